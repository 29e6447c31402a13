// Screenshot: opens files, waits until everything shown has loaded, and writes the window as a picture.
#pragma once

#include <QImage>
#include <QObject>
#include <QSize>
#include <QStringList>
#include <QTimer>

namespace kerf::ui::inline shell {

class MainWindow;

struct ScreenshotOptions {
  QString output;
  QSize size{1600, 1000};
  QString graph;   ///< of the first capture; empty: the one that opens first
  QString stage;   ///< of AOTAutograd; empty: the captured graph
  QString select;  ///< node
  QString panel;   ///< bottom panel to show
  QString plant;   ///< fault for compare, bisect and minify
  QString bisect;  ///< "node" or "pass"; empty: no bisection
  int pass = -1;   ///< shows the graph after this pass
  bool compare = false, minify = false;
  QString search;          ///< what is searched for
  QString body;            ///< nested graph to go into
  QString picture;         ///< instead of the window, the graph alone is written to this file
  double scale = 1;        ///< of the picture
  bool wholeGraph = true;  ///< in the picture; else what is seen
  bool hulls = false;      ///< fusion groups are outlined
  QStringList paths;
};

class Screenshot : public QObject {
  Q_OBJECT

 public:
  Screenshot(MainWindow& window, ScreenshotOptions options);
  void start();

 signals:
  /// Exit code of the program, and what to say on standard error.
  void finished(int code, const QString& message);

 private:
  void poll();
  bool nextStep();
  bool isOverview() const;
  void showGraph();
  void showAotStage();
  void compare();
  void showValue();
  void bisect();
  void minify();
  void showPass();
  void select();
  void arrange();
  void enterBody();
  void find();
  void outline();
  void moveView();
  void drawPicture();
  void shoot();

  MainWindow& m_window;
  ScreenshotOptions m_options;
  QTimer m_timer;
  QString m_problem;
  int m_quiet = 0;
  std::size_t m_step = 0;
  QImage m_last;  ///< the picture taken before
  int m_pictures = 0;
};

}  // namespace kerf::ui::inline shell
