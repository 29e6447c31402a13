// Command palette: every command, graph, capture and node by name; type to narrow, Enter to go there.
#pragma once

namespace kerf::ui::inline shell {

class Actions;
class MainWindow;

void showCommandPalette(MainWindow& window, const Actions& actions);

}  // namespace kerf::ui::inline shell
