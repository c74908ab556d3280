"""Step 6, export: which model, and a card for each kind of file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QFileDialog, QGridLayout, QWidget

from app.pages.page import Page
from app.session.session import Session
from app.text.key_names import SAVE
from app.text.plan_text import setting_cells
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.cards import Card
from app.widgets.drop_area import data_folder
from app.widgets.layouts import add_to, clear_layout, in_column, in_row
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import (
    ElidedLabel,
    StatusIcon,
    plain_tooltip,
    show_text,
    titled_control,
    wrapping_label,
)
from app.worker.messages import ExportFormat
from core.datasets.task import Task
from core.estimators.model_settings import model_and_values
from core.export.destination import own_ending
from core.export.exportable_models import (
    MODEL_ENDINGS,
    TUNED,
    ExportableModel,
    export_variants_of,
    exportable_models,
)
from core.export.using.use_lines import UseLine, use_lines
from core.tuning.events import RunStarted
from core.tuning.results.result_facts import member_count
from core.tuning.run_results import Results, evaluation_text
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import tunes_several
from core.tuning.scores.score import metric_in_short, score_text

MAX_TRIALS = 200  # in the list


class ModelChooser(QWidget):
    """The tuned model, the default setting, the baseline, or a trial."""

    changed = Signal()  # another model is chosen

    def __init__(self) -> None:
        super().__init__()
        self._choices: list[ExportableModel] = []
        self._started, self._more = RunStarted(), ""
        self.box = QuietComboBox()
        self.box.setMinimumContentsLength(30)
        policy = QuietComboBox.SizeAdjustPolicy
        self.box.setSizeAdjustPolicy(policy.AdjustToMinimumContentsLengthWithIcon)
        self._about = wrapping_label("", "muted")
        in_column(titled_control("Which model?", self.box), self._about, on=self, gap=4)
        self.box.currentIndexChanged.connect(self._show_description)
        self.hide()

    @property
    def model_name(self) -> str:
        return self._chosen_model.name if self._chosen_model else TUNED

    @property
    def model_kind(self) -> str:
        """Of several kinds, "average"."""
        if self._chosen_model is None:
            return ""
        model = self._started.run_plan.model
        if self._chosen_model.averages and tunes_several(self._started):
            return "average"
        return model_and_values(model, self._chosen_model.setting)[0]

    @property
    def _chosen_model(self) -> ExportableModel | None:
        index = self.box.currentIndex()
        return self._choices[index] if 0 <= index < len(self._choices) else None

    def show_choices(self, run: RunState | None) -> None:
        self._started, self._more, models = RunStarted(), "", list[ExportableModel]()
        if run is not None:
            self._started, models = run.started, exportable_models(run, MAX_TRIALS)
            if run.finished > MAX_TRIALS:
                # A list of thousands cannot be read; the command line takes any trial.
                self._more = (
                    f"The list has the best {MAX_TRIALS:,} of {run.finished:,} trials; “tunescope "
                    "export RUN FILE --which NUMBER” takes any."
                )
        # The list is asked for at every change of the run, and a person's choice stays.
        if models == self._choices:
            return
        previous_name, self._choices = self.model_name, models
        names = [choice.name for choice in models]
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItems([_choice_line(choice) for choice in models])
            self.box.setCurrentIndex(names.index(previous_name) if previous_name in names else 0)
        self.setVisible(bool(models))
        self._show_description()

    def _show_description(self) -> None:
        chosen = self._chosen_model
        if chosen is None:
            return
        # The setting of an average is that of its best member.
        setting = "" if chosen.averages else setting_cells(self._started, chosen.setting)[1]
        words = [chosen.sentence, f"{setting}." if setting else "", self._more]
        self._about.setText(" ".join(filter(None, words)))
        self.box.setAccessibleDescription(self._about.text())
        self.changed.emit()


def _choice_line(choice: ExportableModel) -> str:
    """The title and the score: in the test, otherwise in validation."""
    score, score_source = choice.test.get(choice.metric), "in the test"
    metric = choice.metric
    if score is None:
        score, score_source, metric = choice.validation, "in validation", choice.judged_by
    if score is None:
        return choice.title
    return f"{choice.title} · {metric_in_short(metric)} {score_text(score, metric)} {score_source}"


class ExportCard(Card):
    """A kind of file: its use, a warning, and where it was saved."""

    def __init__(self, exporter: ExportFormat, page: ExportPage) -> None:
        super().__init__(exporter.title, exporter.sentence)
        self.exporter = exporter
        if exporter.warning:
            sign = StatusIcon("warning", "warning", 18)
            self.body.addLayout(in_row(sign, (wrapping_label(exporter.warning, "warning"), 1)))
        self._saved = wrapping_label("", "good")
        self._saved.hide()
        self.save_button = PlainButton("Save as…", lambda: page.save_as(exporter.name), "save")
        self.save_button.setAccessibleName(f"Save {exporter.title} as")
        self.folder_button = LinkButton("Open folder", self._open_folder, "folder")
        self.folder_button.hide()
        endings = wrapping_label(" ".join(_file_endings(exporter)), "caption")
        add_to(self.body, 1, self._saved, in_row(self.save_button, self.folder_button, 1, endings))
        self._path: Path | None = None

    def show_saved(self, path: Path | None) -> None:
        self._path = path
        show_text(self._saved, "" if path is None else f"Saved as {path}")
        self.folder_button.setVisible(path is not None)

    def _open_folder(self) -> None:
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path.parent)))


class UseLinesCard(Card):
    """Lines that use the chosen model, each with a copy button."""

    def __init__(self) -> None:
        super().__init__("Three ways to use it", "Each line can be copied.")
        self.lines: list[UseLine] = []
        self._rows = in_column(gap=4)
        self.body.addLayout(self._rows)

    def show_lines(self, lines: list[UseLine]) -> None:
        self.setVisible(bool(lines))
        if lines == self.lines:
            return
        self.lines = lines
        clear_layout(self._rows)
        for line in lines:
            name = wrapping_label(line.title, "caption")
            text = ElidedLabel(line.line, "code")
            text.setToolTip(plain_tooltip(line.line))
            copy_line = partial(QGuiApplication.clipboard().setText, line.line)
            copy = LinkButton("Copy", copy_line, "copy")
            copy.setAccessibleName(f"Copy the line: {line.title}")
            add_to(self._rows, name, in_row((text, 1), copy, gap=10))


class ExportPage(Page):
    """Save the model, its numbers, a script or a report."""

    topic = "export"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.cards: dict[str, ExportCard] = {}
        self._saving: dict[Path, str] = {}  # the kind of file by its path
        self._folder = ""  # where something was saved since these data were opened
        self._saved_model = ""  # the chosen model as a file, which predicts
        self.use_button = self.add_button("Use the model", lambda: self.step_wanted.emit("use"))
        self.primary = self.add_primary("Save the model…", self._save_first, "save")
        self.chooser = ModelChooser()
        self.chooser.changed.connect(self._on_model_chosen)
        words = "Leave rows and values of the data out, but for what a model needs"
        self.without_data = QCheckBox(words)
        words = "Columns and classes stay named, in models categories and words as well."
        self.without_data.setToolTip(plain_tooltip(words))
        self.without_data.hide()
        self.use_lines = UseLinesCard()
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        for column in (0, 1):
            self._grid.setColumnStretch(column, 1)
        words = "What can be saved appears here as soon as the worker is ready."
        self._waiting = wrapping_label(words, "muted")
        add_to(self.body, self.chooser, self.use_lines, self.without_data, self._grid)
        add_to(self.body, self._waiting, 1)
        changes = (session.exporters_changed, session.data_changed, session.plan_changed)
        self.refresh_after(*changes, session.run_changed)
        session.exported.connect(self._on_exported)
        session.run_replaced.connect(self._clear_saved)
        self.refresh()

    def refresh(self) -> None:
        self._make_cards()
        self._show_state()

    def tour_target(self, name: str) -> QWidget | None:
        return self.primary

    def save_as(self, name: str) -> None:
        exporter = self.cards[name].exporter
        path, ending = self._ask_path(exporter)
        if not path:
            return
        if not Path(path).suffix:
            path += ending
        self._folder = str(Path(path).parent)
        self.cards[name].show_saved(None)
        self._saving[Path(path)] = name
        which = TUNED if exporter.of_run else self.chooser.model_name
        self.session.export_model(name, path, which, not self.without_data.isChecked())

    def _ask_path(self, exporter: ExportFormat) -> tuple[str, str]:
        folder = self._folder or data_folder(self._data_file)
        proposed = str(Path(folder) / (self._file_name() + exporter.ending))
        kinds = {f"{name} (*{ending})": ending for ending, name in _file_endings(exporter).items()}
        title = f"Save {exporter.title}"
        # A study is added to the file that is there, so that nothing is replaced and nobody asked.
        quiet = QFileDialog.Option.DontConfirmOverwrite
        options = quiet if exporter.joins else QFileDialog.Option(0)
        filters = ";;".join(kinds)
        path, kind = QFileDialog.getSaveFileName(self, title, proposed, filters, options=options)
        return path, kinds.get(kind, exporter.ending)

    def _file_name(self) -> str:
        plan, summary = self.session.plan, self.session.summary
        # Only the name of the data, without the endings of packed files (.csv.gz).
        name = Path((summary and summary.name) or "model").name.split(".")[0]
        which = self.chooser.model_name
        kind = self.chooser.model_kind or (plan.model if plan is not None else "")
        words = [name, kind] if kind else [name]
        if which != TUNED:
            words.append(f"trial {which}" if which.isdigit() else which)
        return " ".join(words)

    def save_asked(self) -> None:
        if self.primary.isEnabled():
            self._save_first()
        else:
            self.session.problem.emit(self.primary.accessibleDescription())

    def _save_first(self) -> None:
        if self.cards:
            self.save_as(next(iter(self.cards)))

    @property
    def _data_file(self) -> str:
        return self.session.shown.state.started.run_plan.data.file

    @property
    def _dataset_task(self) -> Task:
        started = self.session.shown.state.started
        dataset = started.dataset if self.session.events else self.session.summary
        return (dataset.task if dataset is not None else Task.UNKNOWN) or Task.BINARY

    def _make_cards(self) -> None:
        plan, ran = self.session.plan, self.session.shown.state.started.run_plan
        model = ran.model or (plan.model if plan is not None else "")
        form = export_variants_of(self._dataset_task, model)[0]
        exporters = [exporter for exporter in self.session.exporters if exporter.form == form]
        # The same cards stay, with what they say was saved.
        if not exporters or exporters == [card.exporter for card in self.cards.values()]:
            return
        clear_layout(self._grid)
        self.cards = {}
        for index, exporter in enumerate(exporters):
            card = ExportCard(exporter, self)
            self.cards[exporter.name] = card
            self._grid.addWidget(card, index // 2, index % 2)
        self._waiting.hide()

    def _on_model_chosen(self) -> None:
        self._saved_model = ""
        for card in self.cards.values():
            card.show_saved(None)
        self._show_lines()

    def _show_lines(self) -> None:
        folder, is_tuned = self.session.run_folder, self.chooser.model_name == TUNED
        lines = list[UseLine]()
        if self.session.results is not None and folder is not None:
            rows = f"new_rows{own_ending(self._data_file)}"
            lines = use_lines(str(folder), rows, self._saved_model, is_tuned=is_tuned)
        self.use_lines.show_lines(lines)

    def _show_state(self) -> None:
        self.chooser.show_choices(self.session.shown.state if self.session.results else None)
        ended = self.session.results is not None
        self.without_data.setVisible(ended)
        self._show_lines()
        subtitle = "Everything is made on this computer and stays where you save it."
        self.set_head("Export the model", subtitle)
        self.use_button.set_allowed(ended, "There is no model before a run has ended, in step 4.")
        why_not = "There is nothing to save before a run has ended, in step 4."
        for button in [self.primary, *(card.save_button for card in self.cards.values())]:
            button.set_allowed(ended and bool(self.cards), why_not)
        if self.primary.isEnabled():
            self.primary.setToolTip(f"Save the model ({SAVE})")
        self.set_panel("Which one?", self._advice_sentences())

    def _advice_sentences(self) -> tuple[str, ...]:
        report = "To show others the results, save the report."
        task = self._dataset_task
        if task.is_structured:
            return (
                f"To {task.verb} new {task.items} here or with numpy, save the model.",
                (
                    f"To {task.verb} them elsewhere, save the Python script: the model is inside, "
                    "and it needs neither your data nor this program."
                ),
                report,
            )
        results = self.session.results or Results()
        count = member_count(results)
        average = f"The average of {count} models is one model in each of these files."
        first = (average,) if count > 1 else ()
        if "folder" in self.cards:
            return (
                *first,
                "To predict here, save the folder: tunescope predict takes its file.",
                (
                    "To predict elsewhere, unpack it: the program inside needs numpy, and "
                    "neither your data nor this program."
                ),
                report,
            )
        return (
            *first,
            *filter(None, (evaluation_text(results),)),
            "To predict new rows, here or in Python, save the model.",
            report,
            (
                "To check every step or train again, save the Python script: it needs your "
                "data file, and not this program."
            ),
            (
                "The model takes rows just as they are in your file. Filling gaps, encoding "
                "categories and scaling are part of it."
            ),
        )

    def _on_exported(self, path: str) -> None:
        name = self._saving.pop(Path(path), "")
        if name:
            self.cards[name].show_saved(Path(path))
        if path.endswith((*MODEL_ENDINGS, ".zip")):
            self._saved_model = path
            self._show_lines()

    def _clear_saved(self) -> None:
        self._saving.clear()
        self._folder = ""
        self._on_model_chosen()


def _file_endings(exporter: ExportFormat) -> dict[str, str]:
    """{ending: title of such files}, the usual one first."""
    return exporter.endings or {exporter.ending: exporter.title}
