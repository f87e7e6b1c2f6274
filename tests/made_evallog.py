"""Builders of evaluation logs, small and written here."""

import io
import json
import zipfile

ATTACHED = "0123456789abcdef0123456789abcdef"
TOOLS = [{"name": "view", "description": f"attachment://{ATTACHED}", "parameters": {"type": "object"}}]


def system(text="Be exact."):
    return {"id": "m0", "role": "system", "content": text}


def user(text="Sum the orders.", source="input", key="m1"):
    return {"id": key, "role": "user", "content": text} | ({"source": source} if source else {})


def assistant(text="", *calls, key="m2"):
    made = [{"id": call, "function": "view", "arguments": {"path": call}} for call in calls]
    return {"id": key, "role": "assistant", "content": text, "tool_calls": made}


def tool(call, text="ok", error=None, message="no"):
    failure = {"error": {"type": error, "message": message}} if error else {}
    return {"id": f"t{call}", "role": "tool", "tool_call_id": call, "content": text, **failure}


def model(message, reason="stop", tools=(), **more):
    usage = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    output = {"choices": [{"message": message, "stop_reason": reason}], "usage": usage}
    # What an event repeats of the history and of the raw call is left out of a recording.
    repeated = {"input": [system(), user()], "call": {"request": {}}}
    return {
        "event": "model",
        "model": "acme/small-1",
        "tools": list(tools),
        "output": output,
        **repeated,
        **more,
    }


def sample(messages, events=(), *, key=1, epoch=1, **more):
    held = {"attachments": {ATTACHED: "Show a file."}}
    return {"id": key, "epoch": epoch, "messages": messages, "events": list(events), **held, **more}


def spoken():
    """One sample: a question, two calls with one failure, an answer."""
    first, last = assistant("Looking.", "a", "b"), assistant("Twelve.", key="m3")
    results = [tool("b", "", "file_not_found"), tool("a", "12 orders")]
    events = [
        {"event": "span_begin", "id": "s0", "type": "solvers"},
        model(first, "tool_calls", TOOLS),
        model(last, "stop", TOOLS),
    ]
    return sample([system(), user(), first, *results, last], events)


def log(*samples, **more):
    task = {
        "eval_id": "ev",
        "created": "2026-05-01T08:00:00+00:00",
        "model": "acme/small-1",
        "packages": {"inspect_ai": "0.3.95"},
        "dataset": {"name": "orders", "sample_ids": [1, 2]},
    }
    made = {"version": 2, "status": "success", "eval": task, "plan": {"steps": []}, "samples": list(samples)}
    return json.dumps({**made, **more}).encode()


def archive(path, *samples, header="header.json", method=zipfile.ZIP_DEFLATED):
    """Write a log in zip; `header` is under which name its head stands."""
    head = {key: item for key, item in json.loads(log()).items() if key != "samples"}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        made.writestr(header, json.dumps(head))
        for one in samples:
            made.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    path.write_bytes(held.getvalue())
    return path
