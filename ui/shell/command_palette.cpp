#include "ui/shell/command_palette.h"

#include <QDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "ui/shell/actions.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {
namespace {

constexpr int paletteWidth = 460, height = 380, top = 90;

/// Arrow keys move the list while the cursor stays in the line edit.
class PaletteEdit : public QLineEdit {
 public:
  explicit PaletteEdit(QListWidget& list) : m_list(list) {}

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0) return QLineEdit::keyPressEvent(event);
    m_list.setCurrentRow(std::clamp(m_list.currentRow() + step, 0, std::max(0, m_list.count() - 1)));
  }

 private:
  QListWidget& m_list;
};

void fill(QListWidget& list, const Actions& actions, const QString& text) {
  list.clear();
  for (auto* action : actions.all()) {
    const auto name = QString(action->text()).remove('&').remove("…");
    if (!action->isEnabled() || action->objectName() == "palette" || !name.contains(text, Qt::CaseInsensitive))
      continue;
    auto* item = new QListWidgetItem(
        action->icon(), name + (action->shortcut().isEmpty() ? QString() : "    " + action->shortcut().toString()));
    item->setData(Qt::UserRole, action->objectName());
    list.addItem(item);
  }
  list.setCurrentRow(0);
}

}  // namespace

void showCommandPalette(MainWindow& window, const Actions& actions) {
  auto* dialog = new QDialog(&window, Qt::Popup);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  auto* list = new QListWidget;
  auto* edit = new PaletteEdit(*list);
  edit->setPlaceholderText(QObject::tr("Type a command"));
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(10, 10, 10, 10);
  column->addWidget(edit);
  column->addWidget(list);
  fill(*list, actions, {});
  const auto run = [dialog, list, &actions] {
    const auto id = list->currentItem() ? list->currentItem()->data(Qt::UserRole).toString() : QString();
    dialog->close();
    if (!id.isEmpty()) actions[id]->trigger();
  };
  QObject::connect(edit, &QLineEdit::textChanged, list,
                   [list, &actions](const QString& text) { fill(*list, actions, text); });
  QObject::connect(edit, &QLineEdit::returnPressed, dialog, run);
  QObject::connect(list, &QListWidget::itemClicked, dialog, run);
  dialog->resize(paletteWidth, height);
  dialog->move(window.mapToGlobal(QPoint((window.width() - paletteWidth) / 2, top)));
  dialog->show();
  edit->setFocus();
}

}  // namespace kerf::ui::inline shell
