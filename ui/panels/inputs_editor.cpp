#include "ui/panels/inputs_editor.h"

#include <array>

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QToolButton>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {
namespace {

struct FillTitle {
  const char *name, *title;
};
/// The last one is a file.
constexpr std::array<FillTitle, 5> fills{{{"plausible", "made up after their uses (plausible)"},
                                          {"random", "random, as PyTorch makes them up"},
                                          {"zeros", "zeros"},
                                          {"ones", "ones"},
                                          {"", "taken from a file"}}};
constexpr int fileFill = int(fills.size()) - 1;

}  // namespace

InputsEditor::InputsEditor(const QStringList& symbols, QWidget* parent)
    : QWidget(parent),
      m_form(new QFormLayout(this)),
      m_fill(new QComboBox),
      m_file(new QLineEdit),
      m_seed(new QLineEdit),
      m_symbols(new QLineEdit(symbols.join(' '))),
      m_note(new QLabel) {
  m_form->setContentsMargins(0, 0, 0, 0);
  m_fill->setObjectName("inputs");
  for (const auto& fill : fills) m_fill->addItem(tr(fill.title), fill.name);
  m_fill->setToolTip(tr("For inputs that the capture has no data for. Recorded data is always used"));
  m_file->setObjectName("inputFile");
  m_file->setPlaceholderText(tr("a .safetensors file with in0, in1, … or names of placeholders"));
  m_seed->setObjectName("seed");
  m_seed->setMaximumWidth(180);
  m_symbols->setObjectName("symbolSizes");
  m_symbols->setToolTip(tr("Values of the symbolic sizes that the graph is run with: s0=8 s1=3"));
  m_note->setObjectName("quiet");
  m_note->setWordWrap(true);
  auto* row = fileRow();
  m_form->addRow(tr("Missing inputs are"), m_fill);
  m_form->addRow(tr("File"), row);
  m_form->addRow(tr("Seed"), m_seed);
  m_form->addRow(tr("Symbolic sizes"), m_symbols);
  m_form->addRow(QString(), m_note);
  m_form->setRowVisible(row, false);
  m_form->setRowVisible(m_symbols, !symbols.isEmpty());
  m_form->setRowVisible(m_note, false);
  connect(m_fill, &QComboBox::currentIndexChanged, this, [this, row] {
    m_form->setRowVisible(row, isFile());
    emit changed();
  });
  for (auto* edit : {m_file, m_seed, m_symbols}) connect(edit, &QLineEdit::textChanged, this, &InputsEditor::changed);
}

QWidget* InputsEditor::fileRow() {
  auto* row = new QWidget;
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  auto* browse = new QToolButton;
  browse->setText(tr("Browse…"));
  line->addWidget(m_file, 1);
  line->addWidget(browse);
  connect(browse, &QToolButton::clicked, this, [this] {
    const auto path = QFileDialog::getOpenFileName(this, tr("Choose a file of inputs"), m_file->text(),
                                                   tr("safetensors (*.safetensors)"));
    if (!path.isEmpty()) m_file->setText(path);
  });
  return row;
}

bool InputsEditor::isFile() const { return m_fill->currentIndex() == fileFill; }

QStringList InputsEditor::sizes() const {
  static const QRegularExpression between("[\\s,]+");
  return m_symbols->text().split(between, Qt::SkipEmptyParts);
}

void InputsEditor::setAddress(const workbench::GraphAddress& address) {
  const int fill = m_fill->findData(QString::fromStdString(address.inputs));
  m_fill->setCurrentIndex(fill < 0 ? fileFill : fill);
  m_file->setText(fill < 0 ? QString::fromStdString(address.inputs) : QString());
  m_seed->setText(QString::number(address.seed));
}

void InputsEditor::fill(workbench::GraphAddress& address) const {
  address.inputs = (isFile() ? m_file->text().trimmed() : m_fill->currentData().toString()).toStdString();
  address.seed = m_seed->text().toULongLong();
  address.symbols = plainTexts(sizes());
}

void InputsEditor::setNote(const QString& note) {
  m_note->setText(note);
  m_form->setRowVisible(m_note, !note.isEmpty());
}

QString InputsEditor::note() const { return m_note->text(); }

QString InputsEditor::problem() const {
  if (isFile() && !QFileInfo(m_file->text().trimmed()).isFile())
    return tr("Choose a .safetensors file that holds the inputs: in0, in1, … or names of placeholders.");
  bool isNumber = false;
  m_seed->text().toULongLong(&isNumber);
  if (!isNumber) return tr("The seed is a whole number that is not negative.");
  static const QRegularExpression size("^[A-Za-z_]\\w*=-?\\d+$");
  for (const auto& part : sizes())
    if (!size.match(part).hasMatch()) return tr("\"%1\" is not a size: write s0=8").arg(part);
  return {};
}

QString inputsText(const std::vector<workbench::InputRow>& rows) {
  constexpr qsizetype most = 4;
  qint64 own = 0, tensors = 0;
  QStringList made;
  for (const auto& row : rows) {
    if (row.source == "number") continue;
    ++tensors;
    own += row.source == "stored";
    if (row.source == "generated") made << text(row.name);
  }
  if (tensors == 0) return {};
  if (made.isEmpty()) return InputsEditor::tr("Every input has data of its own (%1).").arg(formatCount(tensors));
  const auto named = QStringList(made.first(std::min(most, made.size()))).join(", ");
  const auto more = made.size() > most ? InputsEditor::tr(" and %1 more").arg(made.size() - most) : QString();
  return InputsEditor::tr("%1 of %2 have data of their own; made up: %3%4")
      .arg(own)
      .arg(plural(tensors, "input"), named, more);
}

}  // namespace kerf::ui::inline panels
