"""A data frame of polars has the same columns as one of pandas."""

from foreign import need_peer

from pytest_ireval import evaluate


def test_both_libraries_get_the_same_columns():
    need_peer("polars")
    result = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, ["RR", "P@1"])

    assert result.to_frame("polars").to_dict(as_series=False) == result.to_frame("pandas").to_dict("list")
    assert result.to_frame("polars").columns == ["query", "RR", "P@1"]
