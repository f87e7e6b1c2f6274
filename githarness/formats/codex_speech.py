"""Who spoke in a Codex session: a person, or the harness in the person's place.

The gap this closes: what was typed stands twice, once in the model's input and
once in an event, and only the input also holds environment, instructions and
notices in the user's role (3 user messages in a driven run, 1 of them typed). The
decision: input items are believed only as long as no event has told who spoke;
with the first event the turns taken from items just before it are taken back.

What it does not do: it judges no words. A text is put in by the harness when it
begins with one of the harness's own tags, and in no other case.
"""

import zlib

import msgspec

from githarness import canon
from githarness.model.builder import Builder

# Texts that the harness puts in the user's place, by how they begin.
INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<collaboration_mode>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<hook_prompt",
)


class Speech(msgspec.Struct, kw_only=True):
    """Where we are between people and model; `fresh`: the next model item opens a step."""

    fresh: bool = True
    task: bool = False  # a task was started and has not ended
    said: bool = False  # someone spoke in the open task
    answered: bool = False  # the model did something in the open task
    events: bool = False  # events tell who spoke: input items are their twins
    itemised: bool = False  # items tell what the model said: events are their twins
    loose: int = 0  # turns taken from items since the model last did something
    heard: list[str] = []  # event and text of what was said since then

    def start(self) -> None:
        """A task begins; what is typed from its second message on steers it."""
        self.task, self.said, self.answered, self.fresh = True, False, False, True

    def model(self, builder: Builder) -> None:
        """The model did something: the first thing after anything else opens a step."""
        if self.fresh:
            builder.step()
        self.fresh, self.answered, self.loose = False, True, 0
        self.heard.clear()

    def item(self, builder: Builder, texts: list[str]) -> None:
        """Take an input item in the user's role."""
        typed = [text for text in texts if not is_injected(text)]
        if not typed:
            builder.inject()
        elif not self.events:
            self._turn(builder, "\n".join(typed), steers=self.answered)
            self.loose += 1

    def event(self, builder: Builder, event: str, text: str) -> None:
        """Take what an event says was typed; two kinds of event may say the same thing."""
        if is_injected(text):
            return
        mark = f"{zlib.crc32(canon.utf8(text)):08x}"
        twin = next((old for old in self.heard if old.endswith(mark) and not old.startswith(event)), None)
        if twin is not None:
            self.heard.remove(twin)
            return
        self._believe_events(builder)
        self.heard.append(f"{event} {mark}")
        self._turn(builder, text, steers=self.said or self.answered)

    def _believe_events(self, builder: Builder) -> None:
        """Take back the turns that came from items just before the first event."""
        if not self.events and self.loose:
            builder.turn_count -= self.loose
            builder.injected += self.loose - 1
            del builder.turns[-self.loose :]
            self.said = False
        self.events, self.loose = True, 0

    def _turn(self, builder: Builder, text: str, *, steers: bool) -> None:
        if self.task and steers:
            builder.steer()
        builder.turn(text)
        self.said = self.fresh = True

    def say(self, builder: Builder, text: str, phase: object) -> None:
        """Take the model's own words; commentary is announced as not the last of them."""
        self.model(builder)
        self.itemised = True
        builder.say(text)
        if phase == "commentary":
            builder.last = "step"

    def say_event(self, builder: Builder, text: str) -> None:
        """Take an event's copy of the model's words, where no item has told them."""
        if not self.itemised:
            self.model(builder)
            builder.say(text)


def is_injected(text: str) -> bool:
    """Tell whether the harness wrote a text that stands in the user's place."""
    return text.lstrip().startswith(INJECTED)
