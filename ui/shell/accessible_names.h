// Accessible names: what a screen reader calls the widgets that take the focus and do not say it themselves.
#pragma once

class QWidget;

namespace kerf::ui::inline shell {

/// Names every focusable widget below `root` that has no name yet, after its placeholder, its tip, its text or the
/// panel that it is in.
void nameWidgets(QWidget& root);

}  // namespace kerf::ui::inline shell
