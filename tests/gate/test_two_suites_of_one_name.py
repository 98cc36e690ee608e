"""Two suite files of a folder that call their suites by one name do not overwrite each other's baseline."""

REFUSED = (
    "not accepted: shop: other.ireval.yaml beside it has a suite of the same name, and both would share one baseline; "
    "left as it is"
)


def test_nothing_is_accepted_for_one_of_them(shop):
    (shop.path / "other.ireval.yaml").write_text(shop.suite.replace("suite: shop", "suite: 'shop'  # ours"))
    result = shop.run("shop.ireval.yaml", "--ireval-update-new")

    assert result.ret == 1
    result.stdout.fnmatch_lines([REFUSED])
    assert shop.baseline_files() == {}


def test_other_names_and_other_places_do_not_matter(shop):
    matrix = "matrix: {n: [10, 5]}\nweight: '{n}'\nsuite: shop"
    (shop.path / "below").mkdir()
    for file, text in (
        ("other.ireval.yaml", matrix),
        ("other.txt", "suite: shop"),
        ("below/other.ireval.yaml", "suite: shop"),
    ):
        (shop.path / file).write_text(shop.suite.replace("suite: shop", text))

    assert shop.run("shop.ireval.yaml", "--ireval-update-new").ret == 0
    assert "shop.baseline" in shop.baseline_files()
