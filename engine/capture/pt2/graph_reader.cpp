#include "engine/capture/pt2/graph_reader.h"

#include <algorithm>

#include "engine/capture/pt2/argument.h"
#include "engine/capture/pt2/node_reader.h"
#include "engine/capture/pt2/schema.h"

namespace kerf::inline capture::pt2 {
namespace {

/// Where the parts of a graph begin: they come in any order, but build on each other.
struct Parts {
  std::optional<std::size_t> inputs, outputs, nodes, tensors, ints, floats, bools, objects;
  bool singleReturn = false;
};

struct PartRow {
  std::string_view key;
  std::optional<std::size_t> Parts::* place;
};
constexpr PartRow partRows[] = {{"inputs", &Parts::inputs},         {"outputs", &Parts::outputs},
                                {"nodes", &Parts::nodes},           {"tensor_values", &Parts::tensors},
                                {"sym_int_values", &Parts::ints},   {"sym_float_values", &Parts::floats},
                                {"sym_bool_values", &Parts::bools}, {"custom_obj_values", &Parts::objects}};

Result<Parts> findParts(JsonCursor& json) {
  Parts parts;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "is_single_tensor_return") {
      KERF_TRY(parts.singleReturn, json.boolean());
      return {};
    }
    for (const PartRow& row : partRows)
      if (row.key == key) {
        (void)json.peek();
        parts.*row.place = json.position();
      }
    KERF_CHECK(json.skip());
    return {};
  }));
  return parts;
}

/// Visits the members of the object at `place`; more than the limit of nodes is refused while it counts them.
template <class Visit>
Result<void> forEachValue(JsonCursor& json, std::optional<std::size_t> place, std::int64_t limit, Visit visit) {
  if (!place) return {};
  json.seek(*place);
  std::int64_t count = 0;
  return json.forEachMember([&](const std::string& name) -> Result<void> {
    if (++count > limit) return fail(ErrorCode::TooLarge, "the graph describes more than {} values", limit);
    return visit(name);
  });
}

Result<void> readTensors(JsonCursor& json, const Parts& parts, NodeReader& nodes, GraphReading& reading) {
  return forEachValue(json, parts.tensors, reading.limits.nodes, [&](const std::string& name) -> Result<void> {
    const auto node = nodes.find(name);
    if (!node) {  // a constant or nothing at all
      KERF_CHECK(json.skip());
      return {};
    }
    std::int64_t layout = numberOf(Layout::Strided);
    KERF_TRY(TensorMeta meta, readTensorMeta(json, &layout));
    if (layout != numberOf(Layout::Strided)) reading.program.layouts[nodes.programName(*node)] = layout;
    nodes.graph().setValueMeta(*node, {std::move(meta)});
    return {};
  });
}

Result<void> readSymbols(JsonCursor& json, std::optional<std::size_t> place, Pt2Program::Symbol kind, NodeReader& nodes,
                         GraphReading& reading) {
  return forEachValue(json, place, reading.limits.nodes, [&](const std::string& name) -> Result<void> {
    KERF_TRY(SymExpr symbol, readSymbol(json));
    if (const auto node = nodes.find(name)) {
      reading.program.symbols[nodes.programName(*node)] = kind;
      nodes.graph().setValueMeta(*node, {SymMeta{std::move(symbol)}});
    }
    return {};
  });
}

Result<void> readObjects(JsonCursor& json, const Parts& parts, NodeReader& nodes, GraphReading& reading) {
  return forEachValue(json, parts.objects, reading.limits.nodes, [&](const std::string& name) -> Result<void> {
    std::string className;
    KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key != "class_fqn") {
        KERF_CHECK(json.skip());
        return {};
      }
      KERF_TRY(className, json.string());
      return {};
    }));
    if (const auto node = nodes.find(name)) {
      reading.program.symbols[nodes.programName(*node)] = Pt2Program::Symbol::CustomObject;
      reading.program.customObjects[nodes.programName(*node)] = className;
    }
    return {};
  });
}

Result<void> readOutputs(JsonCursor& json, const Parts& parts, NodeReader& nodes) {
  ArgumentList outputs;
  if (parts.outputs) {
    json.seek(*parts.outputs);
    KERF_CHECK(json.forEachElement([&]() -> Result<void> {
      KERF_TRY(Argument value, nodes.readArgument());
      outputs.push_back(std::move(value));
      return {};
    }));
  }
  if (parts.singleReturn && outputs.size() != 1)
    return json.failHere(fmt::format("a graph that returns one value lists {}", outputs.size()));
  if (parts.singleReturn && outputs.front().as<NodeId>() == nullptr)
    return json.failHere("a graph that returns one tensor returns a plain value");
  nodes.graph().output(parts.singleReturn ? outputs.front() : Argument::tuple(std::move(outputs)));
  return {};
}

}  // namespace

Result<GraphModule> readPt2Graph(JsonCursor& json, GraphReading& reading,
                                 const std::vector<std::string>& constantNames) {
  (void)json.peek();
  KERF_TRY(const Parts parts, findParts(json));
  const std::size_t end = json.position();
  GraphModule module;
  NodeReader nodes(json, reading, module);
  if (parts.inputs) {
    json.seek(*parts.inputs);
    KERF_CHECK(nodes.readInputs(constantNames));
  }
  if (parts.nodes) {
    json.seek(*parts.nodes);
    KERF_CHECK(json.forEachElement([&] { return nodes.readNode(); }));
  }
  KERF_CHECK(readOutputs(json, parts, nodes));
  KERF_CHECK(readTensors(json, parts, nodes, reading));
  KERF_CHECK(readSymbols(json, parts.ints, Pt2Program::Symbol::Int, nodes, reading));
  KERF_CHECK(readSymbols(json, parts.floats, Pt2Program::Symbol::Float, nodes, reading));
  KERF_CHECK(readSymbols(json, parts.bools, Pt2Program::Symbol::Bool, nodes, reading));
  KERF_CHECK(readObjects(json, parts, nodes, reading));
  nodes.describeSequences();
  json.seek(end);
  return module;
}

}  // namespace kerf::inline capture::pt2
