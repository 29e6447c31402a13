// RoomyDialog: a dialog whose fields are never crushed: it is as large as what is in it, as far as the screen allows, and
// scrolls beyond that; its buttons are always in view.
#pragma once

#include <QDialog>

class QLayout;
class QScrollArea;

namespace kerf::ui::inline panels {

class RoomyDialog : public QDialog {
  Q_OBJECT

 public:
  explicit RoomyDialog(QWidget* parent = nullptr) : QDialog(parent) {}

 protected:
  /// `content` scrolls where there is no room for it; `buttons` stand below it.
  void setContent(QLayout* content, QWidget* buttons);
  /// Whatever appears later (a note, a problem) gets room as well.
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void grow();

  QScrollArea* m_scroll = nullptr;
  QWidget* m_content = nullptr;
};

}  // namespace kerf::ui::inline panels
