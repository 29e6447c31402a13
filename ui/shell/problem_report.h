// The text of a problem report: what the window knows of itself and of the last messages, for the user to copy.
#pragma once

#include <QString>

namespace kerf::ui::inline shell {

class MainWindow;

/// Version, system, screens, what is shown (kinds and numbers, no names), and the last messages, without the paths of the
/// user's folder. Nothing is sent anywhere.
QString problemReport(MainWindow& window);

/// Shows it with a button that copies it.
void showProblemReport(MainWindow& window);

}  // namespace kerf::ui::inline shell
