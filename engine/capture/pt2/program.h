// Pt2Program: what an exported program says beside its graph, kept so that it can be written back as it was.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/capture/common/origin.h"
#include "engine/ir/node.h"

namespace kerf::inline capture {

/// One entry of a *_config.json: a weight, buffer, constant or custom object and where its bytes are.
struct Pt2Payload {
  std::string name;      ///< fully qualified name, the key
  std::string pathName;  ///< member below data/weights/ or data/constants/ ("weight_0")
  bool isParameter = false;
  bool usesPickle = false;         ///< custom objects and tensor subclasses
  std::optional<TensorMeta> meta;  ///< not of custom objects
  int storage = -1;                ///< index in CapturedGraph::storages; -1 if the bytes cannot be used
  std::optional<FileRange> bytes;  ///< the member's bytes as they lie in the file; unset if they were compressed
  std::string content;             ///< the member's bytes where they were compressed
  std::uint32_t crc32 = 0;         ///< of the member
  std::string text;                ///< the entry's JSON object, verbatim
};

/// A member that the graph does not need, kept for writing back: sample inputs, extra files.
struct Pt2Member {
  std::string name;  ///< without the root folder
  FileRange bytes;   ///< as it lies in the file, not compressed
  std::uint32_t crc32 = 0;
};

struct Pt2Program {
  /// How the schema types a value that is not a tensor.
  enum class Symbol : std::uint8_t { Int, Float, Bool, CustomObject };

  bool isMade = false;  ///< from a printed program, and not read from an archive
  std::int64_t schemaMinor = 0;
  /// JSON of the fields by name, verbatim: module_call_graph, metadata, treespec_namedtuple_fields, opset_version,
  /// range_constraints, verifiers, guards_code, and any that later minor versions add.
  std::map<std::string, std::string> graphModuleFields, programFields;
  std::vector<std::string> inputSpecs, outputSpecs;  ///< JSON of each spec of the signature, verbatim
  std::vector<Pt2Payload> weights, constants;
  std::vector<Pt2Member> others;
  /// Argument names of ops by target and position, as the nodes gave them (for ops whose schema is not known here).
  std::map<std::string, std::vector<std::string>> argumentNames;
  std::set<std::string> listReturns;  ///< ops that return one list of tensors
  // By node name; nodes of nested graphs have the graphs' names in front ("true_graph_0/x").
  std::set<std::string> noneResults;                            ///< getitems that take a result which is None
  std::unordered_map<std::string, Symbol> symbols;              ///< of nodes that are no tensors
  std::unordered_map<std::string, std::string> customObjects;   ///< class of each custom object
  std::unordered_map<std::string, std::string> constantInputs;  ///< JSON of inputs that are plain values
  std::unordered_map<std::string, std::int64_t> layouts;        ///< of tensors that are not strided
};

}  // namespace kerf::inline capture
