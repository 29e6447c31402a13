// kerf-studio: reads the arguments, builds the window, runs the event loop.
#include <cstdio>

#include <QApplication>
#include <QCommandLineParser>

#include "engine/support/log.h"
#include "ui/graph_view/picture_export.h"
#include "ui/shell/main_window.h"
#include "ui/shell/screenshot.h"

namespace {

using kerf::ui::MainWindow;
using kerf::ui::Screenshot;
using kerf::ui::ScreenshotOptions;

constexpr int badUsage = 2;
constexpr int noDisplay = 3;

void addOptions(QCommandLineParser& parser) {
  parser.setApplicationDescription("Graph debugger and minifier for PyTorch compiler graphs.");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("PATH", "Files or folders to open.", "[PATH...]");
  parser.addOptions(
      {{"screenshot", "Renders the window into FILE without a display, then exits.", "FILE"},
       {"size", "Size of the screenshot (1600x1000).", "WxH", "1600x1000"},
       {"stage", "Stage of AOTAutograd to show: aten, functional, joint or joint/inductor.", "NAME"},
       {"graph", "Graph of the opened capture to show, such as aot_joint_graph.", "NAME"},
       {"select", "Node to select.", "NODE"},
       {"theme", "light, dark or system.", "NAME"},
       {"panel",
        "Panel to show: overview, program, ranks, nodes, source, path, runs, difference, changes, accuracy, values, "
        "placements, minify, partition, kernels, code, fusion, timeline, record, store, log, find or notes.",
        "NAME"},
       {"pass", "Shows the graph after pass N (1, 2, …).", "N"},
       {"compare", "Compares before the screenshot is taken."},
       {"bisect", "Bisects by node or pass before the screenshot is taken.", "BY"},
       {"minify", "Minifies before the screenshot is taken."},
       {"search", "Query whose nodes are marked, such as 'op:relu users>1'.", "QUERY"},
       {"body", "Nested graph to go into, such as body_graph_0.", "NAME"},
       {"outline", "Outlines fusion groups."},
       {"picture", "Draws the graph alone into FILE (.png, .svg, .pdf or .dot), then exits.", "FILE"},
       {"scale", "Of --picture, in percent (100).", "PERCENT", "100"},
       {"part", "What --picture shows: whole or view.", "PART", "whole"},
       {"plant", "Fault for --compare, --bisect and --minify, such as relu=accuracy.", "OP=KIND"},
       {"store", "Database to use.", "PATH"}});
}

/// Width and height of "1600x1000"; an invalid size for anything else.
QSize parseSize(const QString& text) {
  const auto parts = text.split('x');
  bool good[2] = {false, false};
  if (parts.size() != 2) return {};
  const QSize size(parts[0].toInt(&good[0]), parts[1].toInt(&good[1]));
  const bool sane = good[0] && good[1] && size.width() >= 320 && size.height() >= 240 && size.width() <= 16384 &&
                    size.height() <= 16384;
  return sane ? size : QSize();
}

enum class Start { Window, Offscreen, NoDisplay };

/// What has to be known before Qt looks for a display: screenshots, help and wrong options need none.
Start startOf(int argc, char** argv) {
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  QCommandLineParser parser;
  addOptions(parser);
  if (!parser.parse(arguments)) return Start::Offscreen;
  for (const char* option : {"screenshot", "picture", "help", "version"})
    if (parser.isSet(option)) return Start::Offscreen;
  const auto set = [](const char* name) { return !qEnvironmentVariableIsEmpty(name); };
  const bool chosen = set("QT_QPA_PLATFORM") || arguments.contains("-platform");
  return chosen || set("DISPLAY") || set("WAYLAND_DISPLAY") ? Start::Window : Start::NoDisplay;
}

/// Messages name files and options, which may hold anything.
void print(const QString& message) {
  std::fprintf(stderr, "kerf-studio: %s\n", kerf::escapedText(message.toStdString()).c_str());
}

/// Without a display Qt warns of things that nobody can see or change.
void quietMessages(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtCriticalMsg || type == QtFatalMsg) print(text);
}

int say(int code, const QString& message) {
  if (!message.isEmpty()) print(message);
  return code;
}

QString usageProblem(const QCommandLineParser& parser) {
  if (!parseSize(parser.value("size")).isValid()) return "--size needs WIDTHxHEIGHT, such as 1600x1000";
  const auto theme = parser.value("theme");
  if (!theme.isEmpty() && !QStringList{"light", "dark", "system"}.contains(theme))
    return "--theme is light, dark or system";
  if (const auto by = parser.value("bisect"); !by.isEmpty() && by != "node" && by != "pass")
    return "--bisect is node or pass";
  if (const auto part = parser.value("part"); part != "whole" && part != "view") return "--part is whole or view";
  bool number = false;
  if (parser.value("scale").toDouble(&number) <= 0 || !number) return "--scale is a number of percent, such as 50";
  if (const auto file = parser.value("picture"); !file.isEmpty() && kerf::ui::pictureFormatOf(file).isEmpty())
    return "--picture needs a name that ends in .png, .svg, .pdf or .dot";
  return {};
}

ScreenshotOptions screenshotOptions(const QCommandLineParser& parser) {
  return {parser.value("screenshot"),
          parseSize(parser.value("size")),
          parser.value("graph"),
          parser.value("stage"),
          parser.value("select"),
          parser.value("panel"),
          parser.value("plant"),
          parser.value("bisect"),
          parser.value("pass").toInt() - 1,
          parser.isSet("compare"),
          parser.isSet("minify"),
          parser.value("search"),
          parser.value("body"),
          parser.value("picture"),
          parser.value("scale").toDouble() / 100,
          parser.value("part") == "whole",
          parser.isSet("outline"),
          parser.positionalArguments()};
}

int takeScreenshot(MainWindow& window, const QCommandLineParser& parser) {
  Screenshot screenshot(window, screenshotOptions(parser));
  int result = 0;
  QObject::connect(&screenshot, &Screenshot::finished, &window, [&](int code, const QString& message) {
    result = say(code, message);
    QApplication::exit(result);
  });
  screenshot.start();
  QApplication::exec();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Start start = startOf(argc, argv);
  if (start == Start::NoDisplay)
    return say(noDisplay,
               "there is no display (DISPLAY and WAYLAND_DISPLAY are not set); "
               "--screenshot FILE.png PATH draws without one");
  if (start == Start::Offscreen) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(quietMessages);
  }
  QApplication application(argc, argv);
  QApplication::setApplicationName("kerf-studio");
  QApplication::setApplicationVersion(KERF_VERSION);
  QCommandLineParser parser;
  addOptions(parser);
  if (!parser.parse(QApplication::arguments())) return say(badUsage, parser.errorText());
  if (parser.isSet("help")) parser.showHelp();
  if (parser.isSet("version")) parser.showVersion();
  if (const auto problem = usageProblem(parser); !problem.isEmpty()) return say(badUsage, problem);
  const bool shot = parser.isSet("screenshot") || parser.isSet("picture");
  if (const auto problem = shot ? QString() : kerf::ui::startLog(); !problem.isEmpty()) return say(badUsage, problem);
  MainWindow window({!shot, parser.value("theme").isEmpty() && shot ? "light" : parser.value("theme")});
  window.session().setStorePath(parser.value("store"));
  if (shot) return takeScreenshot(window, parser);
  window.show();
  if (parser.positionalArguments().isEmpty())
    window.resume();
  else
    window.openBeside(parser.positionalArguments());
  return QApplication::exec();
}
