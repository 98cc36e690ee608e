"""The parameters that many metrics share, each described once."""

from typing import Annotated, Literal

from pytest_ireval import Param

Cutoff = Annotated[int, Param("how many documents from the top count", low=1)]
Depth = Annotated[int | None, Param("how many documents from the top count; all, unless given", low=1)]
Rel = Annotated[float, Param("documents of this grade and above are relevant")]
AnyRel = Annotated[float | None, Param("only documents of this grade and above count; all, unless given")]
JudgedOnly = Annotated[bool, Param("leave out unjudged documents first, so that the others move up (condensed list)")]
Relative = Annotated[bool, Param("divide by the most relevant documents that a list of this length could hold")]
Beta = Annotated[float, Param("how many times as important recall is as precision", low=0)]
Denominator = Annotated[
    Literal["R", "min"],
    Param(
        "what the sum is divided by: R, all relevant documents, or min, no more of them than the cutoff leaves room for"
    ),
]
Gain = Annotated[
    Literal["linear", "exp"],
    Param(
        "the gain of a grade g: linear is g, exp is 2^g - 1",
        aliases={"dcg": {"log2": "linear", "exp-log2": "exp"}},
    ),
]
Gains = Annotated[
    dict[float, float] | None,
    Param("the gain of single grades, in place of the grade itself, as {1: 1, 2: 3}"),
]
Discount = Annotated[
    Literal["log2", "jarvelin"],
    Param("log2 divides by log(rank + 1); jarvelin by log(rank), and not at all where the rank is below the base"),
]
LogBase = Annotated[float, Param("the base of the discount's logarithm", above=1)]
MaxGrade = Annotated[
    float | None,
    Param(
        "the top of the scale; unless given, that of the evaluation, or else the highest grade of the judgments",
        above=0,
    ),
]
Persistence = Annotated[
    float,
    Param(
        "the probability that a reader goes on to the next document",
        low=0,
        below=1,
        why="with p = 1 the factor 1 - p is 0, and so is every score",
    ),
]
Rounding = Annotated[
    Literal["nearest", "up"],
    Param("how recall * R becomes a number of documents: to the nearest (trec_eval 10) or up (recall really reached)"),
]
