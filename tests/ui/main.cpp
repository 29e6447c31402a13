// Runs the tests inside a QApplication without a display, with settings and store in a folder of their own.
#include <QStandardPaths>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/heartbeat.h"

int main(int argc, char** argv) {
  const QTemporaryDir home;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("XDG_CONFIG_HOME", home.path().toLocal8Bit());
  qputenv("KERF_STORE", (home.path() + "/kerf.db").toLocal8Bit());
  if (qEnvironmentVariableIsEmpty("KERF_CLI")) qputenv("KERF_CLI", KERF_BINARY_DIR "/bin/kerf");
  kerf::ui::test::WatchedApplication application(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
