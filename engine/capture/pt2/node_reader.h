// NodeReader: builds the nodes of one graph of torch.export's schema: inputs, calls, and the getitems behind calls.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/capture/pt2/graph_reader.h"

namespace kerf::inline capture::pt2 {

class NodeReader {
 public:
  NodeReader(JsonCursor& json, GraphReading& reading, GraphModule& module)
      : m_json(json), m_reading(reading), m_module(module) {}

  Graph& graph() { return m_module.graph; }
  /// The node's name in Pt2Program.
  std::string programName(NodeId node) { return m_reading.scope + graph().node(node).name(); }
  /// The node that a name of the schema stands for.
  std::optional<NodeId> find(const std::string& name) const;

  /// Reads the list of inputs at the cursor into placeholders.
  Result<void> readInputs(const std::vector<std::string>& constantNames);
  /// Reads one call at the cursor.
  Result<void> readNode();
  /// Reads one Argument object at the cursor; nested graphs become submodules and get_attr nodes.
  Result<Argument> readArgument();
  /// Gives every call that returns a sequence the metas of its elements. Called when the elements have theirs.
  void describeSequences();

 private:
  /// One result of a call: a name, several (a list), or None.
  struct Output {
    std::string name;
    std::vector<std::string> names;
    bool isList = false, isNone = false;
  };
  struct Call;
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  Result<NodeId> named(const std::string& name) const;
  Result<Argument> readKey(const std::string& key);
  Result<Argument> readNamed();
  Result<Argument> readSymbolArgument();
  Result<Argument> readNames();
  Result<Argument> readGraphArgument();
  Result<void> readNestedGraph(const std::string& name, std::size_t place);
  Result<Argument> readDict();
  template <class Read>
  Result<Argument> readItems(Read read);
  Result<void> readCallInput(Call& call);
  Result<void> readCallField(const std::string& key, Call& call);
  Result<void> readMetadata(Metadata& metadata);
  Result<Output> readOutput();
  Result<std::string> readInputName(const std::string& constantName, bool& constant);
  Result<void> addCall(Call& call);
  Result<void> addOutputs(NodeId node, const std::vector<Output>& outputs, const NodeMeta& meta);
  Result<NodeId> addItem(NodeId sequence, std::size_t index, const std::string& name, const NodeMeta& meta);
  Result<void> define(const std::string& name, NodeId node);
  Result<void> count();

  JsonCursor& m_json;
  GraphReading& m_reading;
  GraphModule& m_module;
  std::unordered_map<std::string, NodeId> m_byName;
  std::vector<std::pair<NodeId, std::vector<NodeId>>> m_sequences;  ///< a call before its elements' own sequences
};

}  // namespace kerf::inline capture::pt2
