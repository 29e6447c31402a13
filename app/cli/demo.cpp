// kerf demo: the main job on the bundled sample, end to end.
#include <cstdlib>

#include "app/cli/commands.h"
#include "app/cli/demo_run.h"
#include "app/cli/studio_program.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view sampleFile = "mlp8/minifier_launcher.py";

/// Where samples may lie, first match wins: named, beside the installed program, where it was built, where it installs.
Result<fs::path> findSample() {
  std::vector<fs::path> places;
  if (const char* named = std::getenv("KERF_SAMPLES")) places.emplace_back(named);
  places.push_back(programFolder().parent_path() / "share/kerf/samples");
  places.emplace_back(KERF_SAMPLES_DIR);
  places.emplace_back(KERF_INSTALLED_SAMPLES_DIR);
  std::error_code ignored;
  for (const auto& place : places) {
    if (fs::is_regular_file(place / sampleFile, ignored)) return place / sampleFile;
  }
  return fail(ErrorCode::Environment, "the bundled sample {} was not found; set KERF_SAMPLES to its folder",
              sampleFile);
}

bool hasDisplay() {
  const auto isSet = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY");
}

Result<void> makeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(ErrorCode::Environment, "cannot create {}: {}", folder.string(), error.message());
  return {};
}

/// The demo's own store begins empty, so that every run shows the whole search. A store named by the user is left
/// alone.
Result<void> freshStore(Context& context, const fs::path& folder) {
  if (!context.storePath.empty()) return {};
  context.storePath = (folder / "kerf.db").string();
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(context.storePath + suffix, ignored);
  return {};
}

Result<int> runDemo(Context& context, const std::string& output, bool window) {
  KERF_TRY(const auto sample, findSample());
  KERF_CHECK(makeFolder(output));
  KERF_CHECK(freshStore(context, output));
  KERF_TRY(const auto report, DemoRun(context, sample, output).run());
  if (context.json) printJson(report);
  const auto studio = studioProgram();
  if (!window || studio.empty() || !hasDisplay()) return 0;
  KERF_CHECK(startDetached(
      {studio.string(), "--store", context.storePath, sample.string(), report["repro"].get<std::string>()}));
  if (!context.json) fmt::print("Studio is open on the sample and its repro.\n");
  return 0;
}

}  // namespace

void addDemo(CommandLine& line) {
  auto& command = line.add("demo", "Run the whole workflow on the bundled sample and write a report to ./kerf-demo",
                           "  kerf demo\n  kerf demo -o /tmp/demo --no-window");
  auto output = std::make_shared<std::string>("kerf-demo");
  auto quiet = std::make_shared<bool>(false);
  command.add_option("-o,--output", *output, "Folder for report, repro, screenshot and store")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_flag("--no-window", *quiet, "Do not open Studio, even if there is a display");
  line.onRun(command, [output, quiet](Context& context) { return runDemo(context, *output, !*quiet); });
}

}  // namespace kerf::cli
