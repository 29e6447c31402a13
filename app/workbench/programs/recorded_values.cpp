#include "app/workbench/programs/recorded_values.h"

#include <fstream>
#include <map>

#include "engine/accuracy/closeness.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

double toleranceOf(DType dtype) {
  if (dtype == DType::Float64 || dtype == DType::Complex128) return 1e-9;
  if (dtype == DType::BFloat16) return 1.6e-2;
  return dtype == DType::Float16 ? 1e-3 : 1e-5;
}

/// Attributes and globals after a call, and what the compiled run gave, are not asked for here.
bool isAsked(const std::string& name) {
  return !name.starts_with("compiled:") && name.find(".glob") == std::string::npos &&
         name.find(".attr") == std::string::npos;
}

std::string compareTensor(const std::string& name, const Tensor& recorded, const Tensor& given) {
  if (recorded.sizes() != given.sizes())
    return fmt::format("{}: sizes [{}], recorded [{}]", name, fmt::join(given.sizes(), ", "),
                       fmt::join(recorded.sizes(), ", "));
  if (recorded.dtype() != given.dtype())
    return fmt::format("{}: {}, recorded {}", name, dtypeInfo(given.dtype()).torchName,
                       dtypeInfo(recorded.dtype()).torchName);
  const auto close = allClose(given, recorded, toleranceOf(recorded.dtype()), true);
  if (!close) return name + ": " + close.error().text();
  return close->close ? "" : fmt::format("{}: {:.3g} times the tolerance away", name, close->worstRatio);
}

std::string compareCall(std::size_t number, const json& recorded, const json& given) {
  if (recorded.contains("error")) {
    const std::string wanted = recorded["error"].value("type", "");
    const std::string got = given.contains("error") ? given["error"].value("type", "") : "no error";
    return got == wanted ? "" : fmt::format("call {}: {}, recorded {}", number, got, wanted);
  }
  if (given.contains("error"))
    return fmt::format("call {}: {}: {}", number, given["error"].value("type", ""),
                       given["error"].value("message", ""));
  if (recorded.value("result", json()) == given.value("result", json())) return "";
  return fmt::format("call {}: gives {}, recorded {}", number, given.value("result", json()).dump().substr(0, 200),
                     recorded.value("result", json()).dump().substr(0, 200));
}

/// What a call is compared with: what it gave without torch.compile. An error is that of the run that is compared: torch.compile
/// may raise another one, as TorchRuntimeError for shapes that do not fit.
json wantedOf(const json& recorded, bool compiled) {
  json eager = recorded.value("eager", json::object());
  const json under = recorded.value("compiled", json::object());
  return compiled && eager.contains("error") && under.contains("error") ? under : eager;
}

std::string compareTensors(const Recording& recording, const ValueList& names, const ValueList& tensors,
                           bool compiled) {
  std::map<std::string, const Tensor*> given;
  for (std::size_t i = 0; i < std::min(names.size(), tensors.size()); ++i)
    if (names[i].as<std::string>() && tensors[i].isTensor()) given[*names[i].as<std::string>()] = &tensors[i].tensor();
  for (const auto& [name, tensor] : recording.tensors.tensors) {
    if (!isAsked(name)) continue;
    const auto found = given.find(name);
    if (found == given.end()) return name + ": is not given";
    std::string difference = compareTensor(name, tensor, *found->second);
    for (const auto& [other, value] : recording.tensors.tensors)
      if (compiled && !difference.empty() && other == "compiled:" + name)
        difference = compareTensor(name, value, *found->second);
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace

Result<Recording> readRecording(const std::filesystem::path& path) {
  std::ifstream file(path);
  Recording recording;
  recording.document = readJson<json>(file);
  const json& document = recording.document;
  if (!document.is_object()) return fail(ErrorCode::BadInput, "{} is no JSON object", path.string());
  recording.isScript = !document.contains("calls");
  if (recording.isScript) {
    recording.output =
        document.contains("plain_run") ? document["plain_run"].value("stdout", "") : document.value("stdout", "");
    return recording;
  }
  const auto tensors = std::filesystem::path(path).replace_extension(".safetensors");
  if (std::filesystem::exists(tensors)) {
    KERF_TRY(recording.tensors, readSafetensors(tensors));
  }
  return recording;
}

std::string compareValues(const Recording& recording, const Value& given, bool compiled) {
  if (!given.isList() || given.list().size() < 3 || given.list()[0].as<std::string>() == nullptr)
    return "the program's calls gave no answer";
  const json calls = readJson<json>(*given.list()[0].as<std::string>());
  const json& recorded = recording.document["calls"];
  if (!calls.is_array() || calls.size() != recorded.size())
    return fmt::format("{} calls, recorded {}", calls.size(), recorded.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (std::string difference = compareCall(i, wantedOf(recorded[i], compiled), calls[i]); !difference.empty())
      return difference;
  }
  if (!given.list()[1].isList() || !given.list()[2].isList()) return "the program's calls gave no tensors";
  return compareTensors(recording, given.list()[1].list(), given.list()[2].list(), compiled);
}

}  // namespace kerf::workbench
