// MainWindow: bisections, and the PyTorch that they and minifying ask, remembered.
#include <algorithm>

#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/session/text.h"
#include "ui/shell/banner.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {

void MainWindow::bisect(workbench::BisectRequest::By by) {
  raisePanel("accuracy");
  m_accuracy->bisect(by);
}

/// With the Python that minifying asks; where that is not PyTorch yet, the user is asked which it is.
void MainWindow::bisectTorch(workbench::BisectRequest::By by) {
  const auto& settings = m_minify->settings();
  if (settings.oracle.oracle != "torch") {
    raisePanel("minify");
    m_banner->showError(tr("Which PyTorch?"), tr("Choose PyTorch and its Python in the settings, then bisect again."));
    return m_minify->askSettings();
  }
  workbench::BisectRequest request{{}, by};
  request.oracle = "torch";
  request.python = settings.oracle.python;
  request.torchCheck = settings.oracle.torchCheck;
  request.timeout = settings.oracle.timeout;
  raisePanel("accuracy");
  m_session.bisect(std::move(request));
}

void MainWindow::rememberOracle() {
  const auto& settings = m_minify->settings();
  m_preferences.set("minify", QVariantMap{{"oracle", text(settings.oracle.oracle)},
                                          {"python", text(settings.oracle.python)},
                                          {"backend", text(settings.oracle.torchBackend)},
                                          {"check", text(settings.oracle.check)},
                                          {"jobs", settings.jobs}});
}

void MainWindow::recallOracle() {
  const auto known = m_preferences.value("minify").toMap();
  if (known.isEmpty()) return;
  auto settings = m_minify->settings();
  settings.oracle.oracle = known["oracle"].toString().toStdString();
  settings.oracle.python = known["python"].toString().toStdString();
  settings.oracle.torchBackend = known["backend"].toString().toStdString();
  settings.oracle.check = known["check"].toString().toStdString();
  settings.jobs = std::max(1, known["jobs"].toInt());
  m_minify->setSettings(settings);
}

}  // namespace kerf::ui::inline shell
