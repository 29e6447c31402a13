// Session memory: which captures a window had open when it was closed, and where its user was, to go on from there.
#pragma once

#include <QVariantMap>

namespace kerf::ui::inline shell {

class MainWindow;

/// Empty where nothing was open.
QVariantMap rememberedSession(MainWindow& window);
/// Opens the captures again and goes to the place, with selection, open blocks and zoom. What is not there any more is
/// left out.
/// Captures of a remembered session that can still be opened.
QStringList openedBefore(const QVariantMap& session);
void restoreSession(MainWindow& window, const QVariantMap& session);

/// Widths of the columns that the user gave a width, by the tables' names.
QVariantMap columnWidths(const QWidget& window);
void restoreColumnWidths(const QWidget& window, const QVariantMap& widths);

}  // namespace kerf::ui::inline shell
