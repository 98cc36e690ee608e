"""A program as a judge: its answers are checked and kept, and what goes wrong is told with the line."""

import json
import shlex
import sys

import pytest

from pytest_ireval import IrevalError
from pytest_ireval_judgments import machine
from pytest_ireval_judgments.machine import AnswerCache, Asking, MachineJudge, Spending
from pytest_ireval_judgments.rating import Item

GRADES = dict.fromkeys(range(4), "")
ITEMS = [Item("q1", "red mug", {"narrative": "größe ☕"}, f"d{n}", {"title": f"mug {n}"}) for n in range(4)]
BY_ID = "print(json.dumps({'grade': int(asked['document'][1:])}), flush=True)"


@pytest.fixture
def judge(tmp_path):
    """A judge whose program runs ``each`` for every line; ``asked`` is the line."""

    def write_judge(each=BY_ID, before="", after="", **options):
        lines = ["import json, os, sys, time", before, "for line in sys.stdin:", "    asked = json.loads(line)"]
        lines += [f"    {line}" for line in each.splitlines()]
        (tmp_path / "judge.py").write_text("\n".join([*lines, after]))
        return MachineJudge(shlex.join([sys.executable, "-S", str(tmp_path / "judge.py")]), GRADES, **options)

    return write_judge


@pytest.fixture
def ask(tmp_path):
    """The grades by document, and what was spent."""

    def asked(judge, items=ITEMS, cache="cache.jsonl", **budget):
        asking = Asking(judge, AnswerCache(tmp_path / cache), Spending(**budget), "2026-03-01")
        answers = asking.answers(items)
        return {document: answer.grade for (_, document), answer in answers.items()}, asking.budget

    return asked


def test_a_program_sees_everything_that_a_judge_may_see(judge, ask, tmp_path):
    ask(judge(f"print(line, file=open({str(tmp_path / 'seen')!r}, 'a'))\n{BY_ID}"), ITEMS[:1])

    assert json.loads((tmp_path / "seen").read_text()) == {
        "query": "q1",
        "text": "red mug",
        "about": {"narrative": "größe ☕"},
        "document": "d0",
        "fields": {"title": "mug 0"},
        "grades": {"0": "", "1": "", "2": "", "3": ""},
    }


@pytest.mark.parametrize("before", ["", "rest = sys.stdin.read(); import io; sys.stdin = io.StringIO(rest)"])
def test_answers_may_come_one_by_one_or_after_all_questions(judge, ask, before):
    grades, budget = ask(judge(before=before))

    assert grades == {"d0": 0, "d1": 1, "d2": 2, "d3": 3}
    assert budget.asked == 4


def test_nothing_is_asked_twice_and_equal_texts_are_one_question(judge, ask):
    ask(judge())
    assert ask(judge())[1].asked == 0
    twins = [ITEMS[0], ITEMS[0]._replace(query="q2", document="d9")]
    assert ask(judge(), twins)[0] == {"d0": 0, "d9": 0}
    assert ask(judge(), twins)[1].asked == 0


def test_another_script_is_another_judge_whatever_the_name_of_the_model(judge, ask):
    ask(judge(model="A"))

    assert ask(judge(f"pass  # another version\n{BY_ID}", model="A"))[1].asked == 4


def test_a_last_answer_without_a_line_end_is_kept(judge, ask, tmp_path):
    ask(judge())
    (cache,) = tmp_path.glob("*.jsonl")
    cache.write_bytes(cache.read_bytes().rstrip(b"\n"))

    assert ask(judge())[1].asked == 0
    assert cache.read_bytes().endswith(b"\n")


def test_without_texts_the_ids_are_the_question(judge):
    bare = [Item("q1", "", {}, document, {}) for document in ("d0", "d1")]
    one, other = (judge().key(item) for item in bare)

    assert one != other


@pytest.mark.parametrize("change", ["prompt", "grades", "narrative"])
def test_another_model_prompt_scale_or_narrative_is_another_question(judge, ask, tmp_path, change):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Judge!")
    ask(judge(model="A", prompt=prompt))
    prompt.write_text("Judge well!" if change == "prompt" else "Judge!")
    other = judge(model="B" if change == "model" else "A", prompt=prompt)
    if change == "grades":
        other = MachineJudge(other.command, {**GRADES, 4: ""}, other.model, prompt)
    items = [item._replace(about={}) for item in ITEMS] if change == "narrative" else ITEMS

    assert ask(other, items)[1].asked == 4


def test_a_crash_keeps_what_was_answered(judge, ask):
    crash = judge(f"if asked['document'] == 'd2': sys.exit('no money left')\n{BY_ID}")
    with pytest.raises(IrevalError) as error:
        ask(crash)

    assert "ended with exit code 1 after 2 of 4 answers; these are kept" in str(error.value)
    assert "no money left" in str(error.value)
    assert ask(crash, ITEMS[:2])[1].asked == 0


def test_a_program_that_hangs_is_stopped(judge, ask):
    with pytest.raises(IrevalError, match=r"gave no answer for 0\.3s after 1 of 4 answers"):
        ask(judge(f"if asked['document'] == 'd1': time.sleep(600)\n{BY_ID}", timeout=0.3))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("nonsense", "is not JSON (document 'd0' of query 'q1')"),
        ("{}", "has no grade"),
        ('{"grade": 4}', "has the grade '4'"),
        ('{"grade": 1.5}', "has the grade '1.5'"),
        ('{"grade": 1, "document": "d1"}', "is about another document: 'd1'"),
        ('{"grade": 1, "model": 7}', "has the model '7', which is not text"),
        ('{"grade": 1, "cost": -1}', "has a cost that is not a number"),
        ("[1]", "is not a JSON object"),
        ('{"grade": 1, "cost": 1' + "0" * 400 + "}", "has a cost that is not a number"),
    ],
)
def test_a_wrong_answer_is_an_error_with_its_line(judge, ask, answer, complaint):
    with pytest.raises(IrevalError) as error:
        ask(judge(f"print({answer!r}, flush=True)"))

    assert "answer 1 of " in str(error.value)
    assert complaint in str(error.value)


def test_too_many_answers_may_be_wrong_from_the_first_one_so_none_is_kept(judge, ask):
    with pytest.raises(IrevalError, match="answered more often than it was asked"):
        ask(judge(after="print(json.dumps({'grade': 1}))"))

    assert ask(judge())[1].asked == 4


def test_a_program_that_prints_without_end_is_ended(judge, ask):
    with pytest.raises(IrevalError, match="answered more often than it was asked"):
        ask(judge(before="while True:\n    print(json.dumps({'grade': 1}))"))


def test_the_name_of_a_program_has_no_secret_of_its_arguments(judge):
    assert MachineJudge("/opt/bin/ask --key sk-123", GRADES).name == "ask"
    assert (judge().name, judge(model="big 7").name) == ("judge.py", "big 7")


def test_a_program_that_does_not_end_by_itself_is_ended(judge, ask, monkeypatch):
    monkeypatch.setattr(machine, "PATIENCE", 0.1)

    assert ask(judge(after="time.sleep(600)"))[0]["d3"] == 3


def test_a_program_that_is_missing_is_an_error(ask):
    with pytest.raises(IrevalError, match="'no-such-judge' cannot be run: No such file"):
        ask(MachineJudge("no-such-judge", GRADES))
    with pytest.raises(IrevalError, match="cannot be split into words"):
        ask(MachineJudge("judge 'open", GRADES))
    with pytest.raises(IrevalError, match="--with names no program"):
        ask(MachineJudge(" ", GRADES))


def test_a_budget_of_answers_is_never_exceeded_and_goes_on_next_time(judge, ask, tmp_path):
    counting = judge(f"open({str(tmp_path / 'count')!r}, 'a').write('x')\n{BY_ID}")

    assert ask(counting, answers=0)[0] == {}
    assert ask(counting, answers=3)[0] == {"d0": 0, "d1": 1, "d2": 2}
    assert ask(counting, answers=3)[0] == {"d0": 0, "d1": 1, "d2": 2, "d3": 3}
    assert (tmp_path / "count").read_text() == "xxxx"


def test_a_budget_of_cost_stops_after_the_answer_that_reaches_it(judge, ask, tmp_path):
    count = f"open({str(tmp_path / 'count')!r}, 'a').write('x')"
    dear = judge(f"{count}\nprint(json.dumps({{'grade': 1, 'cost': 0.4}}), flush=True)")
    grades, budget = ask(dear, cost=0.7)

    assert (len(grades), budget.spent) == (2, 0.8)
    assert (tmp_path / "count").read_text() == "xx"
    with pytest.raises(IrevalError, match="has no cost, which --budget-cost needs"):
        ask(judge(), cache="other.jsonl", cost=1.0)


def test_an_interrupted_line_of_the_cache_is_dropped_and_a_damaged_one_is_an_error(judge, ask, tmp_path):
    ask(judge(), ITEMS[:2])
    path = tmp_path / "cache.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert ask(judge())[1].asked == 3
    assert len(path.read_bytes().splitlines()) == 4

    path.write_bytes(b'{"key": 1}\n' + whole)
    with pytest.raises(IrevalError, match=r"cache\.jsonl:1\n  is not an answer that ireval judge wrote"):
        ask(judge())


def test_model_and_date_of_an_answer_are_kept(judge, tmp_path):
    named = judge("print(json.dumps({'grade': 1, 'model': 'x\\n\\ud800 7'}))")
    cache = AnswerCache(tmp_path / "cache.jsonl")
    Asking(named, cache, Spending(), "2026-03-01").answers(ITEMS[:1])
    later = Asking(named, AnswerCache(tmp_path / "cache.jsonl"), Spending(), "2027-01-01").answers(ITEMS[:1])

    assert later[ITEMS[0].pair] == (1, "x ? 7", "2026-03-01", 0.0)


def test_model_and_prompt_are_filled_into_the_command(tmp_path):
    prompt = tmp_path / "my prompt.txt"
    prompt.write_text("Judge!")
    judge = MachineJudge("ask --model {model} --prompt={prompt}", GRADES, "big 7", prompt)

    assert judge.words == ["ask", "--model", "big 7", f"--prompt={prompt}"]
    assert judge.prompt_hash == "b2e56484c28f"
