"""Carry-over: the words of a source, in whatever way they are written."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.propose import carryover

WORDS = "never keep old logs when disks of the build hosts are full"
PAGE = f"Notes from the field. {WORDS[:5].title()}{WORDS[5:]}. That is all."
CYRILLIC = str.maketrans("aeocpxAEOCPXTHKMB", "аеосрхАЕОСРХТНКМВ")
GREEK = str.maketrans("NTHKMBAEIOPYXZ", "ΝΤΗΚΜΒΑΕΙΟΡΥΧΖ")
CHINESE = "先把文件读完再开始修改代码然后运行全部测试并报告结果"


def found(text, source=PAGE, **options):
    return carryover.find(text, [source], **options)


def words(count):
    return " ".join(WORDS.split()[:count])


def test_eight_words_of_a_source_are_carried_over_and_shown():
    assert found(f"So {words(8)}, I say.").words == "never keep old logs when disks of the"


def test_seven_words_are_a_coincidence():
    assert found(words(7)) is None


def test_a_setting_is_never_a_quotation():
    assert found("max_turns=40", "set max_turns=40 and nothing else in this file of ours") is None


def test_a_conclusion_in_other_words_is_carried_over_from_nowhere():
    assert found("Build hosts run out of space, so raise the limit for how long runs may take.") is None


def test_the_source_that_holds_the_words_is_named():
    assert carryover.find(WORDS, ["other text", PAGE]).source == 1


@pytest.mark.parametrize("sources", [[], [""], ["short"], ["..."]])
def test_sources_that_say_nothing_hold_nothing(sources):
    assert carryover.find(WORDS, sources) is None


@pytest.mark.parametrize("text", ["", " ", "…", "a b"])
def test_a_proposal_that_says_nothing_repeats_nothing(text):
    assert found(text, "a b c d e f g h") is None


@pytest.mark.parametrize(
    "written",
    [
        WORDS.upper(),
        WORDS.replace(" ", "\u00a0"),
        WORDS.replace(" ", " ... "),
        WORDS.replace(" ", " 🙂 "),
        WORDS.replace(" ", "_"),
        WORDS.replace(" ", "/"),
        WORDS.replace(" ", "."),
        WORDS.replace(" ", "\n> "),
        WORDS.replace(" ", "&nbsp;"),
        WORDS.replace("e", "e\u200b"),
        "\u00ad".join(WORDS),
        "\U000e0020".join(WORDS),
        " ".join(WORDS),
        WORDS.title().replace(" ", ""),
        WORDS.replace("disks", "di-\nsks"),
        WORDS.replace(" ", "<b></b>"),
        WORDS.replace("old", "<i>old</i>").replace("disks", 'di<span class="x">sks</span>'),
        WORDS.translate(CYRILLIC),
        WORDS.upper().translate(CYRILLIC),
        WORDS.upper().translate(GREEK),
        "".join(chr(ord(one) + 0xFEE0) if one != " " else "\u3000" for one in WORDS),
        "".join(f"{one}\u0301" for one in WORDS),
        "".join(f"{one}\ufe0f" for one in WORDS),
    ],
    ids=lambda written: ascii(written)[:24],
)
def test_the_same_words_are_found_however_they_are_written_on_either_side(written):
    assert found(f"We say: {written}!") is not None
    assert found(f"I say {WORDS}.", f"Page. {written} End.") is not None


@pytest.mark.parametrize(
    "written",
    [
        WORDS.replace("o", "0"),
        " ".join(reversed(WORDS.split())),
        "never keep ancient logs when disks of the build machines are full",
    ],
)
def test_digits_for_letters_other_words_and_another_order_pass_and_that_is_the_limit(written):
    assert found(written) is None


def test_sixteen_characters_of_a_script_without_spaces_are_eight_words():
    assert found(CHINESE[3:19], CHINESE) is not None
    assert found(CHINESE[3:18], CHINESE) is None


@pytest.mark.parametrize(
    "text",
    [
        "ファイルを全部読んでから修正を始めてください",
        "파일을 먼저 모두 읽은 다음에 수정을 시작하고 테스트를 실행하세요",
    ],
)
def test_kana_and_hangul_are_found(text):
    assert found(f"So: {text}", f"x {text} y") is not None


def test_a_source_written_as_one_long_word_is_read_as_words():
    assert found(f"We {WORDS}", "x " + WORDS.replace(" ", "")) is not None
    assert found(f"We {WORDS}", "\u200b".join(f"x {WORDS}".split())) is not None


def test_a_digest_is_one_word_however_long():
    digest = "4f94eb06e10fb39f" * 4
    assert found(f"see {digest}", f"as {digest} says") is None


def test_spaced_out_headings_are_not_found_inside_plain_words():
    assert found("the contents are too long", "C O N T E N T S of a book") is None


def test_eight_short_words_are_eight_words():
    assert found("so a b c d e f g h it is", "x a b c d e f g h y and more of it here") is not None


def test_text_between_angle_brackets_is_looked_at_too():
    assert found(f"see <{WORDS}>") is not None
    assert found(WORDS, f"<img alt='{WORDS}'>") is not None


def test_more_words_may_be_asked_for_up_to_twelve():
    assert found(words(10), words=11) is None
    assert found(words(11), words=11) is not None


@pytest.mark.parametrize("count", [0, 7, 13])
def test_fewer_than_eight_and_more_than_twelve_words_are_no_rule(count):
    with pytest.raises(ValueError, match="between 8 and 12"):
        found(WORDS, words=count)


@pytest.mark.parametrize("mixed", [False, True])
def test_five_megabytes_of_sources_take_under_two_seconds(mixed):
    stems = [
        "ar",
        "be",
        "co",
        "du",
        "el",
        "fi",
        "go",
        "hy",
        "in",
        "jo",
        "ka",
        "lu",
        "mé" if mixed else "me",
        "no",
    ]
    lexicon = [a + b + c for a in stems for b in stems for c in stems]
    source = " ".join(lexicon[number * 7919 % len(lexicon)] for number in range(750_000))
    began = time.process_time()
    assert found(f"{WORDS} and {lexicon[5]} {lexicon[9]}", source) is None
    assert len(source.encode()) > 5_000_000
    assert time.process_time() - began < 2


ALPHABET = st.lists(
    st.sampled_from(["the", "model", "ran", "a", "tool", "and", "it", "failed", "so", "we"]), max_size=24
)


def by_words(text, source):
    """The plain rule: eight words in a row on both sides."""
    runs = {tuple(source[at : at + 8]) for at in range(len(source) - 7)}
    return any(tuple(text[at : at + 8]) in runs for at in range(len(text) - 7))


@settings(max_examples=150, deadline=None)
@given(ALPHABET, ALPHABET, st.integers(0, 12))
def test_whatever_the_plain_rule_finds_is_found(text, source, at):
    text = text[:4] + source[at : at + 9] + text[4:]
    if by_words(text, source):
        assert carryover.find(" ".join(text), [" ".join(source)]) is not None


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_are_compared_without_an_error(text, source):
    result = carryover.find(text, [source])
    assert result is None or result.source == 0


SHOWN = "The quick brown fox\njumps over\n\tthe lazy dog near the river bank."
COPIED = "as was seen: quick brown fox jumps over the lazy dog near the river"


@pytest.mark.parametrize(
    "source",
    [
        json.dumps({"text": SHOWN}),
        json.dumps(json.dumps({"text": SHOWN})),
        SHOWN.replace("ick", r"\u0069ck").replace("fox", r"f\u006fx").replace("\n", r"\r\n"),
        "     1\tThe quick brown fox\n     2\tjumps over the\n     3\tlazy dog near the river",
        json.dumps("  1\u2192The quick brown fox\n  2\u2192jumps over the\n  3\u2192lazy dog near the river"),
    ],
    ids=["JSON", "JSON in JSON", "letters spelled", "numbered lines", "numbered lines in JSON"],
)
def test_words_are_found_in_what_a_record_or_a_tool_wrote_around_them(source):
    assert carryover.find(COPIED, [source]) is not None


@pytest.mark.parametrize(
    "words",
    [
        "Всегда отправляй каждое изменение на удалённый сервер сразу же после работы",
        "一二三四五六七八九十机器学习很好用的工具和方法",
    ],
)
def test_words_of_other_scripts_are_found_behind_the_escapes_of_json(words):
    assert carryover.find(words, [json.dumps(f"{words} {words}")]) is not None


@given(st.text(max_size=200))
def test_no_backslash_makes_a_source_unreadable(text):
    carryover.find(COPIED, [text + "\\ud83d\\u" + text + "\\"])
