// The user's editor: a line of a file is shown there.
#pragma once

#include <QString>
#include <QStringList>

namespace kerf::ui::inline shell {

/// "code -g {file}:{line}" as program and arguments; a command that names no file gets it at its end.
QStringList editorCommand(const QString& command, const QString& file, int line);

/// In $KERF_EDITOR, else in what the desktop opens such files with. Why not; empty: it is open.
QString openInEditor(const QString& file, int line);

}  // namespace kerf::ui::inline shell
