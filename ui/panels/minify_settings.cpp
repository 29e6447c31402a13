#include "ui/panels/minify_settings.h"

#include <array>

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/panels/inputs_editor.h"

namespace kerf::ui::inline panels {
namespace {

using std::chrono::milliseconds, std::chrono::minutes, std::chrono::seconds;

struct OracleTitle {
  const char *name, *title, *said;
};
constexpr std::array<OracleTitle, 3> oracles{{
    {"engine", "Kerf's engine",
     "Kerf compiles the candidate and compares it with its interpreter, in a process of its own."},
    {"torch", "PyTorch",
     "The Python below runs the candidate with torch.compile and without; a warm process takes all of them."},
    {"command", "A command",
     "Run with the candidate's repro.py as its last argument: 0 is good, 125 cannot be tested, all else bad."},
}};

QSpinBox* numberBox(const QString& name, int least, int most, const QString& special = {}) {
  auto* box = new QSpinBox;
  box->setObjectName(name);
  box->setRange(least, most);
  box->setSpecialValueText(special);
  box->setMinimumWidth(110);
  return box;
}

QComboBox* editableBox(const QString& name, const QStringList& entries) {
  auto* box = new QComboBox;
  box->setObjectName(name);
  box->setEditable(true);
  box->addItems(entries);
  return box;
}

bool runs(const QString& program) {
  return program.contains('/') ? QFileInfo(program).isExecutable() : !QStandardPaths::findExecutable(program).isEmpty();
}

}  // namespace

MinifySettings::MinifySettings(const workbench::MinifyRequest& request, const QStringList& symbols, QWidget* parent)
    : RoomyDialog(parent),
      m_given(request),
      m_oracle(new QComboBox),
      m_pages(new QStackedWidget),
      m_problem(new QLabel) {
  setObjectName("minifySettings");
  setWindowTitle(tr("How to minify"));
  m_oracle->setObjectName("oracle");
  for (const auto& oracle : oracles) m_oracle->addItem(tr(oracle.title), oracle.name);
  auto* said = new QLabel;
  said->setObjectName("quiet");
  said->setWordWrap(true);
  said->setMinimumWidth(420);
  m_pages->addWidget(enginePage());
  m_pages->addWidget(torchPage());
  m_pages->addWidget(commandPage());
  auto* form = new QFormLayout;
  form->addRow(tr("Who decides"), m_oracle);
  auto* column = new QVBoxLayout;
  column->setSpacing(10);
  column->addLayout(form);
  column->addWidget(said);
  column->addWidget(m_pages);
  column->addWidget(m_inputs = new InputsEditor(symbols));
  connect(m_inputs, &InputsEditor::changed, this, &MinifySettings::showProblem);
  column->addWidget(searchBox());
  m_problem->setObjectName("bannerTitle");
  m_problem->setWordWrap(true);
  column->addWidget(m_problem);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_accept = buttons->button(QDialogButtonBox::Ok);
  m_now = buttons->addButton(tr("&Minify now"), QDialogButtonBox::ActionRole);
  m_now->setObjectName("minifyNow");
  m_now->setToolTip(tr("Keep these settings and begin"));
  connect(m_now, &QPushButton::clicked, this, [this] {
    m_begins = true;
    accept();
  });
  column->addStretch(1);
  setContent(column, buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_oracle, &QComboBox::currentIndexChanged, this, [this, said](int index) {
    m_pages->setCurrentIndex(index);
    said->setText(tr(oracles[std::size_t(index)].said));
    showProblem();
  });
  for (auto* edit : findChildren<QLineEdit*>())
    connect(edit, &QLineEdit::textChanged, this, &MinifySettings::showProblem);
  said->setText(tr(oracles[0].said));
  fill(request);
  showProblem();
}

QWidget* MinifySettings::enginePage() {
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  m_tolerance = new QDoubleSpinBox;
  m_tolerance->setObjectName("tolerance");
  m_tolerance->setDecimals(8);
  m_tolerance->setRange(0, 1);
  m_tolerance->setSingleStep(1e-3);
  m_tolerance->setToolTip(tr("Tolerance of results, as in torch._dynamo.utils.same"));
  form->addRow(tr("Tolerance"), m_tolerance);
  return page;
}

QLineEdit* MinifySettings::programEdit(const QString& name, const QString& hint, QWidget** row) {
  *row = new QWidget;
  auto* line = new QHBoxLayout(*row);
  line->setContentsMargins(0, 0, 0, 0);
  auto* edit = new QLineEdit;
  edit->setObjectName(name);
  edit->setPlaceholderText(hint);
  auto* browse = new QToolButton;
  browse->setText(tr("Browse…"));
  line->addWidget(edit, 1);
  line->addWidget(browse);
  connect(browse, &QToolButton::clicked, this, [this, edit] {
    if (const auto path = QFileDialog::getOpenFileName(this, tr("Choose a program"), edit->text()); !path.isEmpty())
      edit->setText(path);
  });
  return edit;
}

QWidget* MinifySettings::torchPage() {
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  QWidget* row = nullptr;
  m_python = programEdit("python", tr("a Python with PyTorch, such as ~/venv/bin/python"), &row);
  form->addRow(tr("Python"), row);
  m_backend = editableBox("backend", {QString(), "inductor", "aot_eager", "aot_eager_decomp_partition", "eager"});
  m_backend->lineEdit()->setPlaceholderText(tr("what the capture says, else inductor"));
  form->addRow(tr("Backend"), m_backend);
  m_failsIf =
      editableBox("failsIf", {"auto", "exception", "accuracy", "strict_accuracy", "nan", "nondeterminism", "expr:"});
  m_failsIf->setToolTip(
      tr("What counts as a failure; expr: is a Python expression over mod, args, compiled, ref, res and torch"));
  form->addRow(tr("Fails if"), m_failsIf);
  return page;
}

QWidget* MinifySettings::commandPage() {
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  QWidget* row = nullptr;
  m_check = programEdit("check", tr("./still-fails.sh"), &row);
  form->addRow(tr("Command"), row);
  return page;
}

QWidget* MinifySettings::searchBox() {
  auto* box = new QWidget;
  auto* columns = new QHBoxLayout(box);
  columns->setContentsMargins(0, 0, 0, 0);
  auto* left = new QFormLayout;
  auto* right = new QFormLayout;
  left->addRow(tr("Candidates at once"), m_jobs = numberBox("jobs", 1, 64));
  left->addRow(tr("Votes for each"), m_votes = numberBox("votes", 1, 99));
  left->addRow(tr("Seconds for each"), m_timeout = numberBox("timeout", 1, 86'400));
  right->addRow(tr("At most tests"), m_maxTests = numberBox("maxTests", 0, 1'000'000'000, tr("no limit")));
  right->addRow(tr("At most minutes"), m_maxMinutes = numberBox("maxMinutes", 0, 10'000, tr("no limit")));
  right->addRow(tr("Flaky: first runs"), m_starts = numberBox("flaky", 0, 1000, tr("not flaky")));
  m_starts->setToolTip(
      tr("For a failure that does not always show: run the graph this many times to see how often "
         "it fails"));
  auto* whole = new QFormLayout;
  m_match = new QLineEdit;
  m_match->setObjectName("match");
  m_match->setPlaceholderText(tr("a regular expression (empty: the failure of the start graph)"));
  whole->addRow(tr("Only failures with"), m_match);
  m_any = new QCheckBox(tr("Every failure counts, whatever it is"));
  m_any->setObjectName("anyFailure");
  m_fresh = new QCheckBox(tr("Ask again what earlier runs found out"));
  m_fresh->setObjectName("fresh");
  whole->addRow(QString(), m_any);
  whole->addRow(QString(), m_fresh);
  columns->addLayout(left);
  columns->addLayout(right);
  auto* outer = new QWidget;
  auto* column = new QVBoxLayout(outer);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(box);
  column->addLayout(whole);
  return outer;
}

void MinifySettings::fill(const workbench::MinifyRequest& request) {
  const auto& oracle = request.oracle;
  m_oracle->setCurrentIndex(std::max(0, m_oracle->findData(text(oracle.oracle))));
  m_tolerance->setValue(oracle.tolerance);
  m_python->setText(text(oracle.python));
  m_backend->setCurrentText(text(oracle.torchBackend));
  m_failsIf->setCurrentText(text(oracle.torchCheck));
  m_check->setText(text(oracle.check));
  m_inputs->setAddress(request.graph);
  m_jobs->setValue(request.jobs);
  m_votes->setValue(request.votes);
  m_timeout->setValue(int(std::chrono::ceil<seconds>(oracle.timeout).count()));
  m_maxTests->setValue(request.maxTests);
  m_maxMinutes->setValue(int(std::chrono::ceil<minutes>(request.maxTime).count()));
  m_starts->setValue(request.flaky);
  m_match->setText(text(request.match));
  m_any->setChecked(request.anyFailure);
  m_fresh->setChecked(request.fresh);
}

/// What belongs to another oracle is left as usual, for it would be refused.
workbench::MinifyRequest MinifySettings::request() const {
  auto request = m_given;
  auto& oracle = request.oracle;
  const workbench::OracleSettings usual;
  oracle.oracle = m_oracle->currentData().toString().toStdString();
  const bool engine = oracle.oracle == "engine", torch = oracle.oracle == "torch";
  oracle.tolerance = engine ? m_tolerance->value() : usual.tolerance;
  oracle.python = torch ? m_python->text().trimmed().toStdString() : usual.python;
  oracle.torchBackend = torch ? m_backend->currentText().trimmed().toStdString() : usual.torchBackend;
  oracle.torchCheck = torch ? m_failsIf->currentText().trimmed().toStdString() : usual.torchCheck;
  oracle.check = oracle.oracle == "command" ? m_check->text().trimmed().toStdString() : usual.check;
  oracle.timeout = seconds(m_timeout->value());
  m_inputs->fill(request.graph);
  request.jobs = m_jobs->value();
  request.votes = m_votes->value();
  request.maxTests = m_maxTests->value();
  request.maxTime = minutes(m_maxMinutes->value());
  request.flaky = m_starts->value();
  request.match = m_match->text().toStdString();
  request.anyFailure = m_any->isChecked();
  request.fresh = m_fresh->isChecked();
  return request;
}

QString MinifySettings::problem() const {
  const auto oracle = m_oracle->currentData().toString();
  const auto python = m_python->text().trimmed(), check = m_check->text().trimmed();
  if (oracle == "torch" && !runs(python))
    return tr("There is no program \"%1\": choose a Python that has PyTorch.").arg(python);
  if (oracle == "command" && check.isEmpty()) return tr("Choose the program that says whether a repro.py still fails.");
  if (m_failsIf->currentText().trimmed() == "expr:") return tr("Write a Python expression behind expr:");
  if (const auto said = m_inputs->problem(); !said.isEmpty()) return said;
  const QRegularExpression match(m_match->text());
  if (!match.isValid()) return tr("That is not a regular expression: %1").arg(match.errorString());
  return {};
}

void MinifySettings::showProblem() {
  const auto said = problem();
  m_problem->setText(said);
  m_problem->setVisible(!said.isEmpty());
  for (auto* button : {m_accept, m_now})
    if (button) button->setEnabled(said.isEmpty());
}

QString settingsText(const workbench::MinifyRequest& request) {
  const auto& oracle = request.oracle;
  const workbench::MinifyRequest usual;
  QStringList parts;
  for (const auto& each : oracles)
    if (oracle.oracle == each.name) parts << MinifySettings::tr(each.title);
  const workbench::GraphAddress unsaid;
  if (request.graph.inputs != unsaid.inputs)
    parts << MinifySettings::tr("inputs: %1").arg(QFileInfo(text(request.graph.inputs)).fileName());
  if (request.graph.seed != unsaid.seed) parts << MinifySettings::tr("seed %1").arg(request.graph.seed);
  if (!oracle.torchBackend.empty()) parts << text(oracle.torchBackend);
  if (!oracle.check.empty()) parts << QFileInfo(text(oracle.check).section(' ', 0, 0)).fileName();
  if (request.jobs != usual.jobs) parts << plural(request.jobs, "job");
  if (request.votes != usual.votes) parts << plural(request.votes, "vote");
  if (request.flaky > 0) parts << MinifySettings::tr("flaky");
  if (request.maxTests > 0) parts << MinifySettings::tr("at most %1").arg(plural(request.maxTests, "test"));
  if (request.maxTime.count() > 0) parts << MinifySettings::tr("at most %1 min").arg(request.maxTime / minutes(1));
  if (!request.pins.empty()) parts << plural(qint64(request.pins.size()), "pinned node");
  return parts.join(", ");
}

}  // namespace kerf::ui::inline panels
