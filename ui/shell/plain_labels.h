// PlainLabels: labels and tips show text as it is, unless they say that theirs is HTML.
#pragma once

#include <QObject>

namespace kerf::ui::inline shell {

/// Watches over all widgets of the program from now on. Qt guesses otherwise, so that the name of a file could bring
/// pictures and links with it.
class PlainLabels : public QObject {
  Q_OBJECT
 public:
  static void install();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  using QObject::QObject;
};

}  // namespace kerf::ui::inline shell
