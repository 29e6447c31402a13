// Programs and devices around Kerf.
#include <cstdlib>
#include <thread>

#include <unistd.h>

#include "app/cli/components.h"
#include "app/cli/doctor.h"
#include "app/cli/python_package.h"
#include "app/cli/studio_program.h"
#include "app/workbench/cuda_state.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

using State = DoctorRow::State;
constexpr std::chrono::seconds importTime{120};

/// What environment.py prints, or why there is nothing.
Result<Json> askPython(const std::string& python) {
  const auto program = python.contains('/') ? std::filesystem::path(python) : findProgram(python);
  if (program.empty() || access(program.c_str(), X_OK) != 0)
    return fail(ErrorCode::Environment, "there is no Python {}", python);
  KERF_TRY(const auto package, writePythonPackage());
  KERF_TRY(const auto answer,
           runProgram({program.string(), (package / "kerf/environment.py").string()}, {}, importTime));
  // What libraries print goes before the last line.
  const std::size_t open = answer.output.rfind("\n{");
  auto about = readJson<Json>(std::string_view(answer.output).substr(open == std::string::npos ? 0 : open + 1));
  if (!about.is_object())
    return fail(ErrorCode::Environment, "{} ends with status {}", program.string(), answer.status);
  return about;
}

/// "2.11" of "2.11.0+cu130" as 2.4 or newer.
bool isNewTorch(const std::string& version) {
  const int major = std::atoi(version.c_str());
  const std::size_t dot = version.find('.');
  const int minor = dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
  return major > 2 || (major == 2 && minor >= 4);
}

void addTorch(std::vector<DoctorRow>& rows, const Json& about) {
  const std::string version = about.value("torch", "");
  DoctorRow row{"PyTorch",
                State::Works,
                fmt::format("{} of Python {}", version, about.value("python", "")),
                "`kerf check`, `kerf record` and the oracle torch use it",
                "",
                false};
  if (version.empty()) {
    row.state = State::Missing;
    row.found = about.value("problem", "");
    row.get = fmt::format("{} -m pip install torch, or name another Python with --python",
                          about.value("executable", "python3"));
  } else if (!isNewTorch(version)) {
    row.state = State::Limited;
    row.get = "PyTorch 2.4 or newer is needed: pip install --upgrade torch";
  }
  rows.push_back(std::move(row));
  const std::string compiler = about.value("cxx", "");
  rows.push_back({"C++ compiler", compiler.empty() ? State::Missing : State::Works,
                  compiler.empty() ? "none" : compiler, "Inductor compiles code for CPUs with it",
                  compiler.empty() ? "apt-get install g++" : "", false});
  const auto gpus = about.value("gpus", Json::array());
  const bool hasTriton = !about.value("triton", "").empty();
  const State state = gpus.empty() ? State::Missing : hasTriton ? State::Works : State::Limited;
  rows.push_back({"PyTorch on GPUs", state,
                  gpus.empty() ? "none"
                               : fmt::format("{}, first {}{}", gpus.size(), gpus[0].get<std::string>(),
                                             hasTriton ? "" : "; no Triton"),
                  "scripts that use CUDA can be checked",
                  state == State::Works     ? ""
                  : state == State::Limited ? "pip install triton"
                                            : "a GPU with its driver, and a PyTorch built for CUDA",
                  false});
}

std::vector<DoctorRow> torchRows(const std::string& python) {
  std::vector<DoctorRow> rows;
  const auto about = askPython(python);
  if (about)
    addTorch(rows, *about);
  else
    rows.push_back({"PyTorch", State::Missing, about.error().text(),
                    "`kerf check`, `kerf record` and the oracle torch use it",
                    "install Python 3.10 to 3.13 with `pip install torch`, or name one with --python", false});
  return rows;
}

DoctorRow cudaRow() {
  const std::string state = cudaState();
  const bool works = state.contains("used by the backend"), shown = state.starts_with("NVRTC");
  return {"CUDA",
          works                                    ? State::Works
          : shown || state.starts_with("a driver") ? State::Limited
                                                   : State::Missing,
          state,
          "Kerf's own backend cuda",
          works ? "" : "a driver of NVIDIA, and NVRTC: apt-get install libnvrtc12, or pip install nvidia-cuda-nvrtc",
          false};
}

DoctorRow mpiRow() {
  const auto program = findProgram("mpiexec");
  const bool there = !program.empty();
  return {"MPI",
          there ? State::Works : State::Missing,
          there ? program.string() : "no mpiexec",
          "ranks as processes; Kerf simulates ranks without it",
          there ? "" : "apt-get install openmpi-bin",
          false};
}

DoctorRow graphvizRow() {
  const auto program = findProgram("dot");
  return {"Graphviz",
          program.empty() ? State::Missing : State::Works,
          program.empty() ? "no dot" : program.string(),
          "drawings of whole graphs",
          program.empty() ? "apt-get install graphviz" : "",
          false};
}

DoctorRow studioRow() {
  const auto program = studioProgram();
  DoctorRow row{"Studio", State::Works, program.string(), "the window", "", false};
  if (program.empty()) {
    row.state = State::Missing, row.found = "no kerf-studio", row.get = "install the package kerf-studio";
    return row;
  }
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0;
  };
  if (named("DISPLAY") || named("WAYLAND_DISPLAY")) return row;
  row.state = State::Limited;
  row.found += "; no display";
  row.get = "pictures work without one; for the window log in with a desktop, or use `ssh -X` or xvfb-run";
  return row;
}

DoctorRow machineRow() {
  const auto bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  return {"machine",
          State::Works,
          fmt::format("{} cores, {:.0f} GB of memory", std::thread::hardware_concurrency(), bytes / 1e9),
          "how many processes run at once",
          "",
          false};
}

}  // namespace

std::vector<DoctorRow> surroundings(const std::string& python) {
  auto rows = torchRows(python);
  for (auto* row : {cudaRow, mpiRow, graphvizRow, studioRow, machineRow}) rows.push_back(row());
  return rows;
}

}  // namespace kerf::cli
