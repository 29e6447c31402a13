#include "engine/capture/pt2/samples.h"

#include <algorithm>
#include <unordered_map>

#include "engine/capture/common/json.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr int deepest = 50;  // nested lists, tuples and dicts
constexpr std::size_t mostLeaves = 1'000'000;

using Kind = PickleValue::Kind;

class Flattener {
 public:
  explicit Flattener(const Pickle& pickle) : m_pickle(pickle) {}

  Result<void> add(std::uint32_t index, int depth = 0) {
    if (depth > deepest || m_leaves.size() > mostLeaves)
      return fail(ErrorCode::TooLarge, "the sample inputs are nested too deep or too many");
    const PickleValue& value = m_pickle.values[index];
    const bool dict = value.kind == Kind::Dict;
    if (!dict && value.kind != Kind::List && value.kind != Kind::Tuple) {
      m_leaves.push_back(index);
      return {};
    }
    for (std::size_t i = dict ? 1 : 0; i < value.items.size(); i += dict ? 2 : 1) {
      if (++m_steps > mostLeaves) return fail(ErrorCode::TooLarge, "the sample inputs are too many");
      KERF_CHECK(add(value.items[i], depth + 1));
    }
    return {};
  }

  /// A dict's values in the order of `keys`; keys that it lacks are passed over.
  Result<void> addInOrder(const PickleValue& dict, const std::vector<std::string>& keys) {
    if (dict.kind != Kind::Dict || keys.size() * 2 != dict.items.size())
      return fail(ErrorCode::BadInput, "the sample inputs have other keywords");
    std::unordered_map<std::string_view, std::uint32_t> values;
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2)
      values[m_pickle.values[dict.items[i]].text] = dict.items[i + 1];
    for (const std::string& key : keys)
      if (const auto value = values.find(key); value != values.end()) KERF_CHECK(add(value->second, 1));
    return {};
  }

  std::vector<std::uint32_t> take() { return std::move(m_leaves); }

 private:
  const Pickle& m_pickle;
  std::vector<std::uint32_t> m_leaves;
  std::size_t m_steps = 0;
};

/// The `index`-th element of the array at the cursor is read by `visit`; the others are skipped.
template <class Visit>
Result<void> atElement(JsonCursor& json, int index, Visit visit) {
  int at = 0;
  return json.forEachElement([&]() -> Result<void> {
    if (at++ == index) return visit();
    KERF_CHECK(json.skip());
    return {};
  });
}

template <class Visit>
Result<void> atMember(JsonCursor& json, std::string_view wanted, Visit visit) {
  return json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == wanted && json.peek() != 'n') return visit();
    KERF_CHECK(json.skip());
    return {};
  });
}

Result<std::string> stringAt(JsonCursor& json, bool& seen) {
  seen = true;
  return json.string();
}

/// The keyword names in a treespec: [1, {…, "children_spec": [args, {"context": "[\"mask\"]", …}]}].
Result<std::vector<std::string>> keywordsOf(const std::string& spec) {
  std::string context;
  bool seen = false;
  JsonCursor json(spec, "in_spec", deepest);
  KERF_CHECK(atElement(json, 1, [&] {
    return atMember(json, "children_spec", [&] {
      return atElement(json, 1, [&] {
        return atMember(json, "context", [&]() -> Result<void> {
          KERF_TRY(context, stringAt(json, seen));
          return {};
        });
      });
    });
  }));
  std::vector<std::string> names;
  if (!seen) return names;
  JsonCursor list(context, "in_spec", deepest);
  KERF_CHECK(list.forEachElement([&]() -> Result<void> {
    KERF_TRY(std::string name, list.string());
    names.push_back(std::move(name));
    return {};
  }));
  return names;
}

/// The in_spec of the first entry of a module_call_graph, the whole program's.
Result<std::string> inSpecOf(std::string_view moduleCallGraph) {
  std::string spec;
  bool seen = false;
  JsonCursor json(moduleCallGraph, "module_call_graph", deepest);
  KERF_CHECK(atElement(json, 0, [&] {
    return atMember(json, "signature", [&] {
      return atMember(json, "in_spec", [&]() -> Result<void> {
        KERF_TRY(spec, stringAt(json, seen));
        return {};
      });
    });
  }));
  if (!seen) return fail(ErrorCode::BadInput, "the program does not say how its inputs nest");
  return spec;
}

}  // namespace

Result<Samples> readSamples(const Pt2Archive& archive, const ZipMember& member, std::string_view moduleCallGraph,
                            const ImportLimits& limits) {
  Samples samples;
  if (member.bytes == 0) return samples;
  samples.place = archive.range(member);
  std::span<const std::byte> bytes = archive.directory().view(member);
  if (!samples.place) {
    KERF_TRY(const std::string unpacked, archive.directory().read(member, limits.fileBytes));
    KERF_TRY(samples.keep, Storage::allocate(std::int64_t(unpacked.size())));
    std::memcpy(samples.keep->data(), unpacked.data(), unpacked.size());
    bytes = samples.keep->view();
  }
  KERF_TRY(samples.file, readTorchFile(bytes));
  const Pickle& pickle = samples.file->pickle;
  const PickleValue& root = pickle.values[pickle.root];
  if (root.kind == Kind::None) {
    samples.file.reset();
    return samples;
  }
  if (root.kind != Kind::Tuple || root.items.size() != 2)
    return fail(ErrorCode::BadInput, "the sample inputs are not a pair of arguments and keywords");
  Flattener flattener(pickle);
  KERF_CHECK(flattener.add(root.items[0]));
  const PickleValue& keywords = pickle.values[root.items[1]];
  if (!keywords.items.empty()) {
    KERF_TRY(const std::string spec, inSpecOf(moduleCallGraph));
    KERF_TRY(const auto names, keywordsOf(spec));
    KERF_CHECK(flattener.addInOrder(keywords, names));
  }
  samples.leaves = flattener.take();
  return samples;
}

}  // namespace kerf::inline capture::pt2
