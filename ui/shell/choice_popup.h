// ChoicePopup: a list to choose from by typing parts of a name, in the middle of the window.
#pragma once

#include <functional>
#include <vector>

#include <QIcon>
#include <QString>
#include <QWidget>

namespace kerf::ui::inline shell {

struct Choice {
  QString text;
  QString detail;  ///< quieter: a shortcut, a size
  QIcon icon = {};
  QChar mark = {};    ///< typed first, it leaves only those with it: '>', '@'
  bool ready = true;  ///< shown before anything has been typed
};

/// `chosen` is called with the place in `choices`; not at all when the user thinks better of it.
void showChoices(QWidget& window, const QString& hint, std::vector<Choice> choices, std::function<void(int)> chosen);

/// Places of the choices that fit what is typed, the best first, not more than a list can show.
std::vector<int> fittingChoices(const std::vector<Choice>& choices, const QString& typed);

}  // namespace kerf::ui::inline shell
