// The Argument union of torch.export's schema, for NodeReader.
#include "engine/capture/pt2/argument.h"
#include "engine/capture/pt2/node_reader.h"
#include "engine/capture/pt2/schema.h"
#include "engine/ir/printer.h"

namespace kerf::inline capture::pt2 {

Result<Argument> NodeReader::readArgument() {
  std::optional<Argument> value;
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    if (value) return m_json.failHere("an argument with more than one value");
    KERF_TRY(value, readKey(key));
    return {};
  }));
  if (!value) return m_json.failHere("an argument without a value");
  return std::move(*value);
}

Result<Argument> NodeReader::readKey(const std::string& key) {
  KERF_TRY(auto plain, readPlainArgument(m_json, key));
  if (plain) return std::move(*plain);
  if (key == "as_tensor" || key == "as_custom_obj") return readNamed();
  if (key == "as_tensors") return readNames();
  if (key == "as_nested_tensors") return readItems([this] { return readNames(); });
  if (key == "as_sym_int" || key == "as_sym_float" || key == "as_sym_bool" || key == "as_optional_tensor")
    return readSymbolArgument();
  if (key == "as_sym_ints" || key == "as_sym_floats" || key == "as_sym_bools" || key == "as_optional_tensors")
    return readItems([this] { return readSymbolArgument(); });
  if (key == "as_graph") return readGraphArgument();
  if (key == "as_string_to_argument") return readDict();
  return m_json.failHere(fmt::format("'{}' is not a kind of argument that schema {} knows", key, schemaMajor));
}

Result<Argument> NodeReader::readNamed() {
  KERF_TRY(const std::string name, readName(m_json));
  if (const auto node = find(name)) return Argument(*node);
  return m_json.failHere(fmt::format("no earlier node defines '{}'", name));
}

template <class Read>
Result<Argument> NodeReader::readItems(Read read) {
  ArgumentList items;
  KERF_CHECK(m_json.forEachElement([&]() -> Result<void> {
    KERF_TRY(Argument item, read());
    items.push_back(std::move(item));
    return {};
  }));
  return Argument::list(std::move(items));
}

Result<Argument> NodeReader::readNames() {
  return readItems([this] { return readNamed(); });
}

/// {"as_name": "sym_size_int"}, {"as_int": 4}, {"as_tensor": {"name": …}}, {"as_none": true}.
Result<Argument> NodeReader::readSymbolArgument() {
  std::optional<Argument> value;
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "as_name") {
      KERF_TRY(const std::string name, m_json.string());
      KERF_TRY(value, named(name));
      return {};
    }
    KERF_TRY(value, readKey(key));
    return {};
  }));
  if (!value) return m_json.failHere("a symbolic argument without a value");
  return std::move(*value);
}

Result<Argument> NodeReader::readGraphArgument() {
  std::string name;
  std::optional<std::size_t> graphAt;  // what the graph says is kept under its name, which may come after it
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "name") {
      KERF_TRY(name, m_json.string());
    } else if (key == "graph") {
      (void)m_json.peek();
      graphAt = m_json.position();
      KERF_CHECK(m_json.skip());
    } else {
      KERF_CHECK(m_json.skip());
    }
    return {};
  }));
  if (!isDottedName(name)) return m_json.failHere("the name of a nested graph expected");
  if (!graphAt) return m_json.failHere(fmt::format("the nested graph '{}' is missing", name));
  KERF_CHECK(readNestedGraph(name, *graphAt));
  KERF_CHECK(count());
  return Argument(graph().createNamed(Opcode::GetAttr, name, {}, {}, name));
}

/// Reads the graph at `place` into the submodule `name`; a graph that is used again is written again, alike.
Result<void> NodeReader::readNestedGraph(const std::string& name, std::size_t place) {
  const std::size_t end = m_json.position();
  const std::string scope = std::exchange(m_reading.scope, m_reading.scope + name + "/");
  m_json.seek(place);
  auto module = readPt2Graph(m_json, m_reading);
  m_reading.scope = scope;
  if (!module) return fail(std::move(module.error()));
  m_json.seek(end);
  const Submodule* known = m_module.submodule(name);
  if (known == nullptr) {
    auto nested = std::make_shared<const GraphModule>(std::move(*module));
    m_module.submodules.add(name, Submodule{std::move(nested), {}});
  } else if (printGraphText(known->graph->graph) != printGraphText(module->graph)) {
    return m_json.failHere(fmt::format("two different nested graphs are called '{}'", name));
  }
  return {};
}

Result<Argument> NodeReader::readDict() {
  DictArgument dict;
  KERF_CHECK(m_json.forEachMember([&](std::string key) -> Result<void> {
    KERF_TRY(Argument value, readArgument());
    dict.items.emplace_back(std::move(key), std::move(value));
    return {};
  }));
  return Argument(std::move(dict));
}

}  // namespace kerf::inline capture::pt2
