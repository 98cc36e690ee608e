"""Tables of plain text: what does not fit, and what is written in other letters."""

from pytest_ireval.text_table import LEFT_TO_RIGHT, align_rows, measure_width, truncate_middle

ROWS = [("name", "now", "at"), ("short", "0.5", "#1"), ("a name that is long", "0.25", "#12")]


def test_what_follows_a_long_cell_stands_below_it_in_its_own_columns():
    assert align_rows(ROWS, right=(1, 2), most={0: 8}) == [
        "name    now   at",
        "short   0.5   #1",
        "a name that is long",
        "       0.25  #12",
    ]


def test_wide_and_joined_letters_take_the_columns_that_terminals_give_them():
    shown = ["商品", "cafe\N{COMBINING ACUTE ACCENT}", "ก\N{THAI CHARACTER MAI HAN-AKAT}น", "🛒"]

    assert list(map(measure_width, shown)) == [4, 4, 2, 2]


def test_letters_from_right_to_left_do_not_turn_the_columns_behind_them():
    (line,) = align_rows([("q1", '"كوب أحمر"', "1.000")])

    assert line == f'q1  "كوب أحمر"{LEFT_TO_RIGHT}  1.000'
    assert measure_width(line) == 21


def test_an_id_is_cut_so_that_both_of_its_ends_are_seen():
    assert truncate_middle("https://shop.example/p/000123", 13) == "https:…000123"
    assert truncate_middle("d1", 13) == "d1"
    assert truncate_middle("商品商品商品", 7) == "商…商品"
