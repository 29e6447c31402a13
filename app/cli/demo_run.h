// DemoRun: the steps of `kerf demo`, each printed, checked and written into a report.
#pragma once

#include <filesystem>

#include "app/cli/context.h"

namespace kerf::cli {

class DemoRun {
 public:
  DemoRun(Context& context, std::filesystem::path sample, std::filesystem::path folder)
      : m_context(context), m_samplePath(std::move(sample)), m_folder(std::move(folder)) {}

  /// Runs all steps; the result is the --json object. Different when a step does not end as it must.
  Result<Json> run();

 private:
  Result<void> importSample();
  Result<void> showPasses();
  Result<void> compile();
  Result<void> compareClean();
  Result<void> comparePlanted();
  Result<void> cutDown();
  Result<void> showRepro();
  Result<void> takeScreenshot();
  Result<void> writeReport();

  /// Prints and adds to the report.
  void heading(const std::string& title, const std::string& command);
  void say(const std::string& text);
  void block(const std::string& text);

  Context& m_context;
  std::filesystem::path m_samplePath, m_folder;
  Minified m_minified;
  std::string m_report;
  Json m_json;
};

}  // namespace kerf::cli
