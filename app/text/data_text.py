"""Text about the data: columns, target, classes, documents, groups, and what a person changes."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from app.help.glossary import read_help
from core.datasets.dataset_summary import (
    ColumnSummary,
    DatasetSummary,
    Distribution,
    DocumentSummary,
)
from core.datasets.finding import RewrittenCells
from core.datasets.task import Task
from core.datasets.texts.stop_words import AUTO, BY_FREQUENCY, LANGUAGES, NONE
from core.tuning.plan import DataPlan, Plan, evaluation_of
from core.wording import (
    count_text,
    format_decimals,
    format_integer,
    format_number,
    percent,
    shortened_text,
)


def documents_question(documents: DocumentSummary) -> str:
    """What is looked for in the documents."""
    if documents.column:
        return (
            f"Every row is a text. Topics are looked for in “{documents.column}”: words that come "
            "together. Nothing is predicted; you can pick a column to predict instead."
        )
    return (
        "Every row is a text, every number says how often a word comes in it. Topics are looked "
        "for: words that come together. Nothing is predicted."
    )


def unclear_target_text(target: str, rival: str) -> str:
    """That another column is as likely as the guessed target; without a full stop."""
    return f"“{target}” and “{rival}” may both be what is predicted"


def document_facts(documents: DocumentSummary) -> list[tuple[str, str]]:
    """Figures about the documents."""
    low, high = documents.shortest, documents.longest
    mean = format_decimals(documents.mean, 0)
    spread = f"{mean} ({format_integer(low)} to {format_integer(high)})"
    facts = [
        ("Texts", format_integer(documents.count)),
        ("Words of a text that count", spread if low < high else mean),
        ("Different words that count", format_integer(documents.vocabulary)),
        ("Texts without such a word", format_integer(documents.empty)),
    ]
    if documents.test_count:
        facts.append(("Texts of the second file", format_integer(documents.test_count)))
    return facts


def word_rules_text(documents: DocumentSummary) -> str:
    """Which words count."""
    language, rare = documents.language, "or in one only."
    size = f"The {format_integer(documents.size)} most frequent"
    if not documents.column:
        return f"{size}; not those in nearly every text, {rare}"
    if language == BY_FREQUENCY:
        return f"{size} of three or more letters; not those in more than half of the texts, {rare}"
    stops = f"the stop words of {LANGUAGES[language]}, those" if language in LANGUAGES else "those"
    return f"{size} of three or more letters; not {stops} in nearly every text, {rare}"


def stop_word_choices() -> list[tuple[str, str]]:
    """Choices of stop words: (word of the plan, title)."""
    return [
        (AUTO, "Detected from the texts"),
        *LANGUAGES.items(),
        (BY_FREQUENCY, "Words in over half of the texts"),
        (NONE, "None are left out"),
    ]


_ROLE_TITLES = {
    "target": "target",
    "group": "keeps rows together",
    "ignore": "left out",
    "sequence": "sequence",
}
MAX_FINDINGS = 40  # that the panel says


def test_set_size(summary: DatasetSummary, data: DataPlan) -> tuple[int, int]:
    """Sizes of the test set and of the file."""
    structured = summary.structured
    count = summary.rows if structured is None else structured.count
    if data.test_file:
        return (summary.test_rows if structured is None else structured.test_count), count
    return round(count * data.share_tested(count)), count


def every_row_tests(summary: DatasetSummary, data: DataPlan) -> bool:
    """Whether learned penalties are tested on every row."""
    return is_nested(summary, Plan(data, "", ""), "penalties")


def is_nested(summary: DatasetSummary, plan: Plan, kind: str) -> bool:
    """Whether a strategy of this kind is tested by nested cross-validation."""
    if evaluation_of(plan, summary.task, summary.rows, kind) != "nested":
        return False
    # Without each fold two rows of a class must be left; else one test set is held out.
    return bool(plan.evaluation) or all(entry.count > 2 for entry in summary.classes)


def column_word(column: ColumnSummary) -> str:
    """The role of a column, or its kind and unit."""
    # In molecules, a text in the role of the sequence holds its letters.
    if column.role == "sequence" and column.kind == "text":
        return "letters"
    return _ROLE_TITLES.get(column.role, column.kind_text)


def headline(summary: DatasetSummary) -> str:
    """The data in one line."""
    if not summary.task.has_target:
        documents = summary.documents
        topics = f"the topics of “{documents.column}”" if documents.column else "their topics"
        words = f"{format_integer(documents.vocabulary)} different words"
        return f"{documents.items} · {words} · {topics}"
    structured, size = summary.structured, f"{format_integer(summary.rows)} rows"
    if structured is not None:
        size = structured.items
    elif summary.file_rows:
        size = f"{format_integer(summary.rows)} of {format_integer(summary.file_rows)} rows"
    if structured is not None and structured.pairs is not None:
        mean = format_decimals(structured.mean, 0)
        pairs = format_integer(structured.pairs)
        return f"{size}, {mean} on average · {pairs} base pairs · predicting “{summary.target}”"
    columns = format_integer(summary.features)
    return f"{size} · {columns} columns · predicting “{summary.target}”, {_target_text(summary)}"


def _target_text(summary: DatasetSummary) -> str:
    if summary.task.has_numbers:
        return "a number"
    classes, noun = summary.classes, summary.task.class_nouns
    total = sum(entry.count for entry in classes) or 1
    if len(classes) == 2:
        shares = (
            f"{shortened_text(entry.label, 40)} {100 * entry.count / total:.0f}\u00a0%"
            for entry in classes
        )
        return f"two {noun} ({', '.join(shares)})"
    largest = max(classes, key=lambda entry: entry.count)
    share = f"{100 * largest.count / total:.0f}\u00a0%"
    label = shortened_text(largest.label, 40)
    return f"{len(classes)} {noun} (the most frequent, {label}, {share})"


def data_summary(summary: DatasetSummary, data: DataPlan) -> list[str]:
    """Sentences for the panel."""
    sentences = [f"The file was read as: {summary.described}."] if summary.described else []
    sentences += [_question(summary), _test_sentence(summary, data)]
    # The panel is read from its top: serious findings first.
    ordered = sorted(summary.findings, key=lambda finding: not finding.serious)
    sentences.extend(finding.sentence for finding in ordered[:MAX_FINDINGS])
    if (more := len(ordered) - MAX_FINDINGS) > 0:
        sentences.append(f"{format_integer(more)} more findings are not shown.")
    return sentences


def _question(summary: DatasetSummary) -> str:
    if not summary.task.has_target:
        return documents_question(summary.documents)
    question = summary.task.question.format(
        target=summary.target,
        count=len(summary.classes),
        sequence="".join(column.name for column in summary.columns if column.role == "sequence"),
    )
    return question if summary.task.has_pairs else f"{question} You can pick another target."


def _test_sentence(summary: DatasetSummary, data: DataPlan) -> str:
    count, items = format_integer(test_set_size(summary, data)[0]), summary.task.items
    if data.test_file:
        return f"{count} {items} of the second file test the result honestly at the end."
    sentence = (
        f"{count} {'whole ' if summary.task.has_sequences else ''}{items} are the test set: tuning "
        "never sees them, and they test the result at the end."
    )
    if not every_row_tests(summary, data):
        return sentence
    return (
        f"{sentence} Where penalties are learned, every row is tested once instead, by a model "
        "fitted without it: there are few rows."
    )


_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = 3  # values that are named


def missing_text(column: ColumnSummary | None, rows: int) -> str:
    """The caption of a column: "12 % missing"; "" where none is."""
    return f"{percent(column.missing / rows)} missing" if column and column.missing else ""


def column_values_text(column: ColumnSummary, rows: int) -> str:
    """The values of a column in a few lines."""
    sentences = []
    spread = column.distribution
    if spread:
        sentences.append(_spread_text(spread))
    elif column.distinct:
        sentences.append(f"{format_integer(column.distinct)} different values.")
    if column.missing:
        share = percent(column.missing / rows) if rows else ""
        count = f"{format_integer(column.missing)} of {format_integer(rows)} values"
        sentences.append(f"{count} are missing ({share}).")
    else:
        sentences.append("No value is missing.")
    if spread and spread.rows < spread.of:
        row_text, total_text = format_integer(spread.rows), format_integer(spread.of)
        # The histogram of a large file is made of a sample.
        sentences.append(f"The bars are of {row_text} rows, spread evenly over all {total_text}.")
    if note := column.note:
        sentences.append(f"{note[:1].upper()}{note[1:]}.")
    return "\n".join(sentences)


def rewritten_text(cells: RewrittenCells) -> str:
    """How many cells are other texts than what was read."""
    if not cells.count:
        return "Some of its cells are written otherwise than they are read."
    verb = "is" if cells.count == 1 else "are"
    return f"{count_text(cells.count, 'cell')} {verb} written otherwise than read: {cells.example}."


def _spread_text(spread: Distribution) -> str:
    counts, known_count = spread.counts, sum(spread.counts) + spread.other
    if spread.kind == "values":
        first_values = list(zip(spread.labels, counts, strict=True))[:_FIRST]
        phrases = [f"{label}: {percent(count / known_count)}" for label, count in first_values]
        other_values = spread.different + len(counts) - len(first_values)
        if other_values:
            other_rows = known_count - sum(count for _, count in first_values)
            share = percent(other_rows / known_count)
            phrases.append(f"{count_text(other_values, 'other')}: {share}")
        return ", ".join(phrases) + "."
    low, high = spread.low, spread.high
    if low == high:
        return f"Always {_end_text(low, spread)}."
    highest_bin = max(range(len(counts)), key=lambda index: counts[index])
    words = f"From {_end_text(low, spread)} to {_end_text(high, spread)}"
    if len(counts) < 2:
        return f"{words}."
    start, stop = _ends_of(highest_bin, spread)
    between = f"between {_end_text(start, spread)} and {_end_text(stop, spread)}"
    if start == stop:
        between = _end_text(start, spread)
    return f"{words}; the highest bar, {percent(counts[highest_bin] / known_count)}, is {between}."


def _ends_of(index: int, spread: Distribution) -> tuple[float, float]:
    """The ends of a bin; of single whole numbers both are the number."""
    low, high, bins = spread.low, spread.high, len(spread.counts)
    if high - low == bins - 1:
        return low + index, low + index
    # In parts, so that no span is beyond what a float holds.
    start = low * (1 - index / bins) + high * (index / bins)
    stop = low * (1 - (index + 1) / bins) + high * ((index + 1) / bins)
    return start, stop


def _end_text(value: float, spread: Distribution) -> str:
    if spread.kind != "dates":
        return format_number(value, 4)
    try:
        moment = _BEGIN + timedelta(seconds=value)
    # Seconds that lie beyond the years of a calendar.
    except OverflowError:
        return format_number(value, 4)
    if abs(spread.high - spread.low) < 2 * 86400:
        # A time without a date is read as one of 1900.
        return f"{moment:%H:%M}" if moment.year == 1900 else f"{moment:%Y-%m-%d %H:%M}"
    return f"{moment:%Y-%m-%d}"


_OF_COLUMNS = {
    "kinds": "what “{}” holds",
    "readings": "how “{}” is read",
    "roles": "the role of “{}”",
}


def change_title(old_data: DataPlan, new_data: DataPlan) -> str:
    """What differs: "the role of “age”"."""
    for field in fields(old_data):
        before, after = getattr(old_data, field.name), getattr(new_data, field.name)
        if before != after and field.name not in _OF_COLUMNS:
            texts = read_help("plan_fields.json").get(f"data {field.name}", {})
            return str(texts.get("change", "the data"))
    for field_name, words in _OF_COLUMNS.items():
        before, after = getattr(old_data, field_name), getattr(new_data, field_name)
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        if len(names) > 1:
            return f"the {field_name} of {len(names):,} columns"
        if names:
            return words.format(shortened_text(names[0], 40))
    return "the groups"


OWN = "own"


@dataclass(frozen=True)
class GroupWords:
    """Words of the groups that share a penalty."""

    title: str
    caption: str
    ways: dict[str, str]  # titles of the groupings, by the word of the plan
    motifs: tuple[str, ...] = ()  # the kinds of parameters of a model of molecules


def group_words(task: Task) -> GroupWords:
    """What is said of the groups of a task's parameters."""
    kind = "sequences" if task.has_sequences else "molecules" if task.has_pairs else "tables"
    return GroupWords(**read_help("groups.json")[kind])
