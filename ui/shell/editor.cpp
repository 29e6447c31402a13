#include "ui/shell/editor.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QFileInfo>
#include <QProcess>
#include <QUrl>

namespace kerf::ui::inline shell {

namespace {
QString tr(const char* said) { return QCoreApplication::translate("Editor", said); }
}  // namespace

QStringList editorCommand(const QString& command, const QString& file, int line) {
  auto parts = QProcess::splitCommand(command);
  bool named = false;
  for (auto& part : parts) {
    named |= part.contains("{file}");
    part.replace("{line}", QString::number(line)).replace("{file}", file);
  }
  if (!parts.isEmpty() && !named) parts << file;
  return parts;
}

QString openInEditor(const QString& file, int line) {
  const QFileInfo info(file);
  if (!info.isFile()) return tr("There is no file %1 on this machine.").arg(file);
  const auto path = info.absoluteFilePath();  // never an option of the program
  const auto command = editorCommand(qEnvironmentVariable("KERF_EDITOR"), path, line);
  if (!command.isEmpty()) {
    if (QProcess::startDetached(command.front(), command.mid(1))) return {};
    return tr("%1 cannot be started ($KERF_EDITOR).").arg(command.front());
  }
  // A capture may name any file of this machine, and the desktop runs some of them.
  if (info.suffix() == "py" && !info.isExecutable() && QDesktopServices::openUrl(QUrl::fromLocalFile(path))) return {};
  return tr("Nothing opens %1: set KERF_EDITOR, such as \"code -g {file}:{line}\".").arg(path);
}

}  // namespace kerf::ui::inline shell
