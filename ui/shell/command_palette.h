// Command palette: every command by name; type to narrow, Enter to run.
#pragma once

namespace kerf::ui::inline shell {

class Actions;
class MainWindow;

void showCommandPalette(MainWindow& window, const Actions& actions);

}  // namespace kerf::ui::inline shell
