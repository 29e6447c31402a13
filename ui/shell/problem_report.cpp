#include "ui/shell/problem_report.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QDir>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QStyle>
#include <QSysInfo>
#include <QVBoxLayout>

#include "ui/models/theme.h"
#include "ui/shell/banner.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {
namespace {

constexpr std::size_t mostReportedMessages = 60;

/// Environment variables that change what Kerf or Qt do.
constexpr const char* toldVariables[] = {"KERF_LOG",        "KERF_FONT",        "KERF_CODE_FONT", "KERF_CUDA_ARCH",
                                         "QT_SCALE_FACTOR", "QT_QPA_PLATFORM",  "LANG",           "OMP_NUM_THREADS",
                                         "KERF_EDITOR",     "QT_STYLE_OVERRIDE"};

QString withoutHome(QString text) {
  const auto home = QDir::homePath();
  return home.size() > 1 ? text.replace(home, "~") : text;
}

QString screensText() {
  QStringList screens;
  for (const auto* screen : QGuiApplication::screens())
    screens << QString("%1x%2 at %3")
                   .arg(screen->size().width())
                   .arg(screen->size().height())
                   .arg(screen->devicePixelRatio());
  return screens.join(", ");
}

QString shownText(Session& session) {
  const auto capture = session.capture(session.location().capture);
  if (!capture) return "nothing";
  auto shown = QString("a capture of kind %1 with %2 graphs").arg(text(capture->kind)).arg(capture->graphs.size());
  if (session.graph()) shown += QString(", a graph of %1 nodes").arg(session.graph()->nodes.size());
  return shown;
}

QString messagesText(const std::deque<LogDoc>& messages) {
  QStringList lines;
  const auto levels = logLevels();
  const auto first = messages.size() > mostReportedMessages ? messages.size() - mostReportedMessages : 0;
  for (std::size_t i = first; i < messages.size(); ++i)
    lines << QString("%1 %2 %3: %4")
                 .arg(messages[i].time.toString("HH:mm:ss.zzz"), levels.value(messages[i].level), messages[i].category,
                      messages[i].text);
  return lines.isEmpty() ? QString("none") : lines.join('\n');
}

}  // namespace

QString problemReport(MainWindow& window) {
  QStringList lines{
      "What I did:",
      "",
      "What happened:",
      "",
      "What I expected:",
      "",
      "---",
      "Kerf Studio " + QApplication::applicationVersion() + ", Qt " + qVersion(),
      QSysInfo::prettyProductName() + ", " + QSysInfo::kernelType() + " " + QSysInfo::kernelVersion() + ", " +
          QSysInfo::currentCpuArchitecture(),
      QString("platform %1, style %2, theme %3")
          .arg(QGuiApplication::platformName(), QApplication::style()->objectName(), theme().dark ? "dark" : "light"),
      "screens: " + screensText(),
      QString("window: %1x%2").arg(window.width()).arg(window.height()),
      "shown: " + shownText(window.session())};
  for (const char* name : toldVariables)
    if (qEnvironmentVariableIsSet(name)) lines << QString("%1=%2").arg(name, qEnvironmentVariable(name));
  if (!window.banner().isHidden()) lines << "banner: " + window.banner().text();
  lines << "" << "Last messages:" << messagesText(window.logFeed().messages());
  return withoutHome(lines.join('\n')) + "\n";
}

void showProblemReport(MainWindow& window) {
  auto* dialog = new QDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName("problemReport");
  dialog->setWindowTitle(MainWindow::tr("Report a problem"));
  auto* said =
      new QLabel(MainWindow::tr("Copy this text into your report, and say above the line what you did. Nothing is sent "
                                "from here. Paths in your home folder are shortened; read "
                                "the messages before you share them."));
  said->setWordWrap(true);
  said->setObjectName("quiet");
  auto* words = new QPlainTextEdit(problemReport(window));
  words->setObjectName("problemText");
  words->setAccessibleName(MainWindow::tr("Text of the report"));
  words->setFont(codeFont());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* copy = buttons->addButton(MainWindow::tr("Copy"), QDialogButtonBox::ActionRole);
  copy->setObjectName("copyProblem");
  QObject::connect(copy, &QPushButton::clicked, words,
                   [words] { QGuiApplication::clipboard()->setText(words->toPlainText()); });
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(said);
  column->addWidget(words, 1);
  column->addWidget(buttons);
  dialog->resize(std::min(820, window.width() - 60), std::min(620, window.height() - 60));
  dialog->open();
}

}  // namespace kerf::ui::inline shell
