#include "ui/shell/choice_popup.h"

#include <algorithm>

#include <QDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "ui/shell/fuzzy_match.h"

namespace kerf::ui::inline shell {
namespace {

constexpr int popupWidth = 560, height = 400, top = 90;
constexpr std::size_t mostShown = 200;

/// Arrow keys move the list while the cursor stays in the line edit.
class ChoiceEdit : public QLineEdit {
 public:
  explicit ChoiceEdit(QListWidget& list) : m_list(list) {}

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0) return QLineEdit::keyPressEvent(event);
    m_list.setCurrentRow(std::clamp(m_list.currentRow() + step, 0, std::max(0, m_list.count() - 1)));
  }

 private:
  QListWidget& m_list;
};

void fill(QListWidget& list, const std::vector<Choice>& choices, const QString& typed) {
  list.clear();
  for (const int at : fittingChoices(choices, typed)) {
    const auto& choice = choices[std::size_t(at)];
    auto* item =
        new QListWidgetItem(choice.icon, choice.text + (choice.detail.isEmpty() ? QString() : "    " + choice.detail));
    item->setData(Qt::UserRole, at);
    list.addItem(item);
  }
  list.setCurrentRow(0);
}

}  // namespace

std::vector<int> fittingChoices(const std::vector<Choice>& choices, const QString& typed) {
  const auto first = typed.isEmpty() ? QChar() : typed.front();
  const bool marked =
      std::ranges::any_of(choices, [&](const Choice& choice) { return !first.isNull() && choice.mark == first; });
  const auto wanted = (marked ? typed.mid(1) : typed).trimmed();
  std::vector<std::pair<int, int>> scores;  // smaller is better
  for (int i = 0; i < int(choices.size()); ++i) {
    const auto& choice = choices[std::size_t(i)];
    if (marked ? choice.mark != first : wanted.isEmpty() && !choice.ready) continue;
    const int score = wanted.isEmpty() ? 0 : fuzzyScore(wanted, choice.text);
    constexpr int behindNames = 1 << 20;  // file names and the like count when the name itself does not fit
    if (score >= 0)
      scores.emplace_back(-score, i);
    else if (choice.detail.contains(wanted, Qt::CaseInsensitive))
      scores.emplace_back(behindNames, i);
  }
  const auto shown = std::min(scores.size(), mostShown);
  std::ranges::partial_sort(scores, scores.begin() + std::ptrdiff_t(shown));
  std::vector<int> places;
  for (std::size_t i = 0; i < shown; ++i) places.push_back(scores[i].second);
  return places;
}

void showChoices(QWidget& window, const QString& hint, std::vector<Choice> choices, std::function<void(int)> chosen) {
  auto* dialog = new QDialog(&window, Qt::Popup);
  dialog->setObjectName("choices");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  auto* list = new QListWidget;
  auto* edit = new ChoiceEdit(*list);
  edit->setPlaceholderText(hint);
  edit->setAccessibleName(hint);
  edit->setObjectName("choice");
  list->setAccessibleName(hint);
  list->setFocusPolicy(Qt::NoFocus);  // arrow keys move it from the line above
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(10, 10, 10, 10);
  column->addWidget(edit);
  column->addWidget(list);
  fill(*list, choices, {});
  const auto run = [dialog, list, chosen = std::move(chosen)] {
    const int at = list->currentItem() ? list->currentItem()->data(Qt::UserRole).toInt() : -1;
    dialog->close();
    if (at >= 0) chosen(at);
  };
  QObject::connect(edit, &QLineEdit::textChanged, list,
                   [list, choices = std::move(choices)](const QString& text) { fill(*list, choices, text); });
  QObject::connect(edit, &QLineEdit::returnPressed, dialog, run);
  QObject::connect(list, &QListWidget::itemClicked, dialog, run);
  dialog->resize(popupWidth, height);
  dialog->move(window.mapToGlobal(QPoint((window.width() - popupWidth) / 2, top)));
  dialog->show();
  edit->setFocus();
}

}  // namespace kerf::ui::inline shell
