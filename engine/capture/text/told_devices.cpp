#include "engine/capture/text/told_devices.h"

#include <algorithm>
#include <map>
#include <memory>

#include "engine/ir/python_constants.h"

namespace kerf::inline capture {
namespace {

/// Whether an annotation says more behind its last bracket: `"f32[2]cuda:0"`, `"f32[2][1]cpu"`.
bool tellsDevice(std::string_view text) {
  for (std::size_t at = text.find(": \""); at != text.npos; at = text.find(": \"", at + 3)) {
    const std::size_t end = text.find('"', at + 3);
    if (end == text.npos) return false;
    const std::string_view annotation = text.substr(at + 3, end - at - 3);
    const std::size_t bracket = annotation.rfind(']');
    if (bracket != annotation.npos && bracket + 1 < annotation.size() && annotation[bracket + 1] != ')') return true;
  }
  return false;
}

using Devices = std::map<std::string, Device>;

void collect(const Argument& argument, Devices& devices) {
  if (const auto* device = argument.as<Device>()) devices.emplace(device->text(), *device);
  if (const ListArgument* list = argument.asList())
    for (const Argument& item : list->items) collect(item, devices);
}

void collect(const GraphModule& module, Devices& devices) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    for (const Argument& argument : node.args()) collect(argument, devices);
    for (const auto& [name, argument] : node.kwargs()) {
      collect(argument, devices);
      const auto* text = name == "device" ? argument.as<std::string>() : nullptr;
      if (const auto device = text != nullptr ? deviceFromText(*text) : std::nullopt)
        devices.emplace(device->text(), *device);
    }
  }
  for (const auto& [path, submodule] : module.submodules)
    if (submodule.graph) collect(*submodule.graph, devices);
}

void place(ValueMeta& meta, const Device& device) {
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) tensor->device = device;
  if (auto* list = std::get_if<std::vector<ValueMeta>>(&meta.value))
    for (ValueMeta& item : *list) place(item, device);
}

void place(GraphModule& module, const Device& device) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    ValueMeta meta = module.graph.node(id).meta().value;
    if (!meta.known()) continue;
    place(meta, device);
    module.graph.setValueMeta(id, std::move(meta));
  }
  if (module.submodules.empty()) return;
  for (auto& [path, submodule] : module.submodules.edit()) {
    if (!submodule.graph) continue;
    GraphModule nested = *submodule.graph;
    place(nested, device);
    submodule.graph = std::make_shared<const GraphModule>(std::move(nested));
  }
}

}  // namespace

std::string takeDeviceOfCalls(std::string_view text, GraphModule& module) {
  Devices devices;
  collect(module, devices);
  if (devices.size() != 1 || tellsDevice(text)) return {};
  const Device& device = devices.begin()->second;
  if (device.type == "cpu" || device.type == "meta") return {};
  place(module, device);
  return device.text();
}

}  // namespace kerf::inline capture
