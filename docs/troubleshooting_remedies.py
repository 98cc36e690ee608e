"""What to do about errors that are met often, by their complaint as docs/troubleshooting_page.py finds it."""

REMEDIES = {
    "refusing to update baselines in CI; --ireval-allow-ci allows it": (
        "accept on your machine, and commit the baseline; see [the ten](#refusing-to-update-baselines-in-ci)."
    ),
    "--ireval-force and --ireval-reason need --ireval-update or --ireval-update-new": (
        "add `--ireval-update`, or leave out the reason: a run that only looks needs none."
    ),
    "<results>: cannot be written: <reason>; --ireval-report DIR writes to another folder, none writes no files": (
        "the run is red because its results were not written, and an old file might be taken for them. "
        "Give it a folder that it may write to, or `--ireval-report none` in a checkout that is "
        "read-only."
    ),
    "<shown>: cannot be read: the link is broken": (
        "a suite is a symbolic link whose target is gone: fix or remove it."
    ),
    "warning: this run is not in the history: <trouble>": (
        "the verdict is what it would be with it. The rest of the line says why; `ireval_history = none` in the ini "
        "file is for places where nothing can be kept. See [the history](history.md)."
    ),
    "warning: <runs>; the next run sends <them>, or ireval history push": (
        "the verdict is what it would be with it. The line says why the database of the team did not take the runs; "
        "they wait in `.ireval/history.sqlite`. See [one history for a team](history.md#one-history-for-a-team)."
    ),
    "is damaged: <error>": (
        "a disk or a copy went wrong. Move the file away; the next run begins a new one, and [`ireval history "
        "rebuild`](history.md#ci-forgets) brings back what `results.json` files and git know."
    ),
    "<share> of the documents listed now stand neither in the judgments nor in the baseline's rankings; were ids "
    "renamed? judged: <judged share> now, <judged share before> in the baseline": (
        "if they were, a table of old and new ids brings everything back; else judge some of what is new. See "
        "[ids that changed](unjudged.md#ids-that-changed)."
    ),
    "no baseline to compare with": "accept the first one: `pytest --ireval suites/ --ireval-update-new`.",
    "no such file: <value>": "paths are relative to the suite's file, not to where pytest was started.",
    "unknown key <key>": (
        "[suites](suites.md) has every key; most often it is a plural, or a blank too many in front."
    ),
    "unknown rule '<key>'": (
        "`ireval plugins` shows what is installed; a rule of your own needs its `conftest.py` in the "
        "suite's folder or above."
    ),
    "unknown metric '<text>'": "`ireval metrics` lists what there is, with other spellings.",
    "the key '<key>' is missing": "add it; the message says what stands behind it.",
    "is not a suite": "begin the file with `ireval: 1`.",
    "the environment variable <name> is not set": (
        "set it where pytest runs, or give a default: `${NAME:-runs/now.trec}`."
    ),
    "quote this metric name: it contains commas": (
        'in `[…]` and `{…}` YAML ends a value at a comma: quote it, as "RBP(p=0.8, x=1)".'
    ),
    "'<text>' is not a calendar day: <error>": "days are written as 2027-04-01.",
    "contains no <content> in a known format: <beginning>": (
        "name the format, or look at the first line that is shown: is it the right file?"
    ),
    "contains a zero byte: is it UTF-16, or not a text file?": "save it as UTF-8; Excel calls that *CSV UTF-8*.",
    "is not UTF-8 (<reason>)": (
        "save it as UTF-8, from its own encoding: `iconv -f cp1252 -t utf-8 old.csv > new.csv`, or `-f cp949` in Korea."
    ),
    "has <number of cells>, not <names>": "a cell holds a delimiter: quote it in CSV; in TSV take the tab out of it.",
    "document <documents> is judged twice for query <queries>: grade <grade> here, grade <grade> at <place>": (
        "keep one line of the two, or merge several judges with `ireval import --judges median`."
    ),
    "its <content> could be in format <either>": "choose one: `format:` beside the file in the suite.",
    "the file is empty": "whatever writes it has failed before: look at that step of the job.",
    "none of its queries (<queries>) is judged in <origin>": (
        "ids of queries differ, for instance `1` and `q1`: the message shows some of each."
    ),
    "program '<program>' not found": (
        "write a program and its arguments as a list, `command: [python, search.py]`; it is looked for in"
        " `PATH`, not in the suite's folder."
    ),
    "<python> took longer than <timeout>s<where>": "give `timeout:` more, or the search an index that is warm.",
    "no folder for temporary files can be used: <reason of the system>": (
        "set `TMPDIR` to a folder that can be written to."
    ),
    "it returned None: is a return statement missing?": "the function of the source ends without `return`.",
    "cannot be written: <reason of the system>; <state>": (
        "make room or change the owner of the folder, and accept again; the message says whether the old "
        "baseline or the new one counts."
    ),
    "is not as it was written: it was edited by hand, by a tool or by a merge": (
        "`git checkout -- suites/baselines/`, or accept again; let formatters leave that folder alone."
    ),
    "has the marks of a merge conflict": "`ireval baseline resolve`.",
    "was accepted by another run meanwhile, at <date><…>": (
        "run again: the comparison then uses the current baseline."
    ),
    "git does not know the commit <ref> here": (
        "CI fetches one commit only: `fetch-depth: 0` (GitHub), `GIT_DEPTH: 0` (GitLab)."
    ),
    "<who> is writing baselines here, and has not finished within <wait> s; nothing was written": (
        "another run accepts; a process that died holds no lock."
    ),
    "holds an interrupted update of a baseline that has changed since then": (
        "another branch was checked out after a run was killed: remove the folder `.NAME.commit`, "
        "and accept again if it is still wanted."
    ),
    "<origin> ranks <of> of <of> <judged>; without a ranking: <some>": (
        "return an empty list where nothing is found; see [the ten](#ranks-58-of-60-judged-queries-without-a-ranking)."
    ),
    "judgments are locked, and <queries> are not what they were when the baseline was accepted<…>": (
        "bring the judgments back, or take `lock: true` out and accept."
    ),
    "no query has a list on both sides<on>": (
        "a filter (`where`) that fits no query, or new queries only: accept them first."
    ),
    "the <noun> holds <depth> documents of each query, and depth is <depth> now": (
        "accept once with the new depth; then an anchor can be pinned again."
    ),
    "no anchor to compare with": ('pin what is accepted: `ireval baseline anchor suites/ --reason "release 4.2"`.'),
    "no suite was found (*.ireval.yaml, or YAML with a line that begins with ireval:)": (
        "name the folder of the suites."
    ),
}
