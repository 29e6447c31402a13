#include "engine/distributed/recorded/module_cases.h"

#include <cmath>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/recorded/module_step.h"

namespace kerf::inline distributed::inline recorded {
namespace {

std::vector<std::string> textsOf(const Json& json) {
  std::vector<std::string> texts;
  for (const Json& item : json) texts.push_back(item.get<std::string>());
  return texts;
}

/// The recording's difference from the undistributed module, where the loss is that of all ranks together.
bool differsFromWhole(const Json& diff) {
  constexpr double most = 1e-3;
  if (diff.is_number()) return diff.get<double>() > most;
  if (diff.is_string()) return true;
  if (diff.is_object())
    for (const Json& one : diff)
      if (differsFromWhole(one)) return true;
  return false;
}

class StepComparison {
 public:
  StepComparison(const ModuleCase& test, const std::vector<ModuleStep>& ranks, RanksReport& report)
      : m_test(test), m_ranks(ranks), m_report(report) {
    const bool isOfAll = test.line.contains("loss_placements") && test.line["loss_placements"].is_array();
    if (isOfAll && differsFromWhole(test.line.value("grad_plain_diff", Json())))
      if (auto whole = plainStep(test)) m_whole = std::move(*whole);
  }

  void all() {
    values();
    for (auto entry = parameters().begin(); entry != parameters().end(); ++entry) parameter(entry.key(), entry.value());
    if (m_test.line.contains("grad_placements")) inputGradient();
    if (m_test.find("rank0.in_grad") != nullptr) localInputGradient();
    placements("output", m_ranks[0].output, "out_placements");
    placements("loss", m_ranks[0].loss, "loss_placements");
    note(RanksField::LocalShapes, "output", outputShapes());
    const Json none = Json::object();
    note(RanksField::Collectives, "forward", commsDifference(m_ranks[0].forwardComms, line("forward_comms", none)));
    note(RanksField::Collectives, "backward", commsDifference(m_ranks[0].backwardComms, line("backward_comms", none)));
  }

 private:
  const Json& parameters() const {
    static const Json none = Json::object();
    return m_test.line.contains("params") && m_test.line["params"].is_object() ? m_test.line["params"] : none;
  }
  Json line(const char* key, const Json& fallback) const { return m_test.line.value(key, fallback); }
  const Json& rankLine(std::size_t rank) const { return m_test.line["ranks"][rank]; }

  void note(RanksField field, const std::string& where, const std::string& text) {
    m_report.note(m_test.id, field, text.empty() ? "" : fmt::format("{}: {}", where, text));
  }

  void values() {
    note(RanksField::Values, "loss", lossDifference());
    if (m_test.find("rank0.out") == nullptr) return;
    std::string text;
    for (std::size_t r = 0; r < m_ranks.size() && text.empty(); ++r) text = outputDifference(r);
    note(RanksField::Values, "output", text);
  }

  std::string lossDifference() const {
    if (const Tensor* saved = m_test.find("loss")) return difference(m_ranks[0].loss.whole, *saved);
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
      const Json asked = m_whole ? m_test.line["plain_loss"] : rankLine(r).value("loss", Json());
      if (!asked.is_number()) continue;
      const std::string text = difference(Value(m_ranks[r].loss.whole.itemAsDouble(0)), Value(asked.get<double>()));
      if (!text.empty()) return fmt::format("rank {}: {}", r, text);
    }
    return {};
  }

  std::string outputDifference(std::size_t rank) const {
    if (m_whole) return difference(m_ranks[rank].output.whole, m_whole->output.whole);
    const Tensor* saved = m_test.find(fmt::format("rank{}.out", rank));
    if (saved == nullptr) return {};
    const std::string text = difference(m_ranks[rank].output.local, *saved);
    return text.empty() ? text : fmt::format("rank {}: {}", rank, text);
  }

  std::string outputShapes() const {
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
      const Json shape = rankLine(r).value("out_local_shape", Json());
      const auto asked = readSizes(shape.is_array() ? shape : Json::array());
      if (shape.is_array() && asked && m_ranks[r].output.local.sizes() != *asked)
        return fmt::format("rank {} has [{}] instead of [{}]", r, fmt::join(m_ranks[r].output.local.sizes(), ", "),
                           fmt::join(*asked, ", "));
    }
    return {};
  }

  void placements(const std::string& where, const StepTensor& own, const char* key) {
    const Json asked = m_test.line.value(key, Json());
    if (!asked.is_array()) return;
    note(RanksField::Placements, where, placementText(own, asked));
  }

  static std::string placementText(const StepTensor& own, const Json& asked) {
    if (!own.placements) return "is no distributed tensor";
    if (*own.placements == textsOf(asked)) return {};
    return fmt::format("[{}] instead of [{}]", fmt::join(*own.placements, ", "), fmt::join(textsOf(asked), ", "));
  }

  /// A DDP module is called "module" by its wrapper.
  static std::string ownName(const std::string& name) { return name.starts_with("module.") ? name.substr(7) : name; }

  void parameter(const std::string& name, const Json& recorded) {
    const std::string own = ownName(name);
    const auto known = m_ranks[0].parameters.find(own);
    if (known == m_ranks[0].parameters.end()) return note(RanksField::Values, name, "is missing");
    if (recorded["placements"].is_array())
      note(RanksField::Placements, name, placementText(known->second, recorded["placements"]));
    note(RanksField::LocalShapes, name, localShapes(name, own));
    gradient(name, own, recorded);
  }

  std::string localShapes(const std::string& name, const std::string& own) const {
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
      const Json& shapes = rankLine(r)["params"][name];
      for (const auto& [key, part] :
           {std::pair{"local_shape", &ModuleStep::parameters}, std::pair{"grad_local_shape", &ModuleStep::gradients}}) {
        const auto found = (m_ranks[r].*part).find(own);
        if (!shapes.contains(key) || !shapes[key].is_array() || found == (m_ranks[r].*part).end()) continue;
        const auto asked = readSizes(shapes[key]);
        if (asked && found->second.local.sizes() != *asked)
          return fmt::format("{} of rank {}: [{}] instead of [{}]", key, r,
                             fmt::join(found->second.local.sizes(), ", "), fmt::join(*asked, ", "));
      }
    }
    return {};
  }

  void gradient(const std::string& name, const std::string& own, const Json& recorded) {
    const auto found = m_ranks[0].gradients.find(own);
    if (found == m_ranks[0].gradients.end()) return note(RanksField::Gradients, name, "has no gradient");
    if (recorded["grad_placements"].is_array())
      note(RanksField::Placements, name + ".grad", placementText(found->second, recorded["grad_placements"]));
    if (m_whole) {
      const auto whole = m_whole->gradients.find(own);
      if (whole != m_whole->gradients.end())
        note(RanksField::Gradients, name, difference(found->second.whole, whole->second.whole));
      return;
    }
    if (const Tensor* saved = m_test.find("grad." + name))
      return note(RanksField::Gradients, name, difference(found->second.whole, *saved));
    std::string text;
    bool isKnown = false;
    for (std::size_t r = 0; r < m_ranks.size() && text.empty(); ++r) {
      const Tensor* saved = m_test.find(fmt::format("rank{}.grad.{}", r, name));
      const auto mine = m_ranks[r].gradients.find(own);
      if (saved == nullptr || mine == m_ranks[r].gradients.end()) continue;
      isKnown = true;
      text = difference(mine->second.local, *saved);
    }
    if (isKnown) note(RanksField::Gradients, name, text);
  }

  /// Of distributed logits.
  void inputGradient() {
    const auto& own = m_ranks[0].inputGradient;
    if (!own) return note(RanksField::Gradients, "input", "has no gradient");
    note(RanksField::Placements, "input.grad", placementText(*own, m_test.line["grad_placements"]));
    if (const Tensor* saved = m_test.find("grad")) note(RanksField::Gradients, "input", difference(own->whole, *saved));
  }

  void localInputGradient() {
    std::string text;
    for (std::size_t r = 0; r < m_ranks.size() && text.empty(); ++r) {
      const Tensor* saved = m_test.find(fmt::format("rank{}.in_grad", r));
      if (saved == nullptr) continue;
      text = m_ranks[r].inputGradient ? difference(m_ranks[r].inputGradient->local, *saved) : "has no gradient";
      if (!text.empty()) text = fmt::format("rank {}: {}", r, text);
    }
    note(RanksField::Gradients, "input", text);
  }

  const ModuleCase& m_test;
  const std::vector<ModuleStep>& m_ranks;
  std::optional<ModuleStep> m_whole;  ///< the truth where PyTorch is wrong
  RanksReport& m_report;
};

/// Where PyTorch refuses, refusing is right, and so are the whole module's loss and gradients.
std::string refusalDifference(const ModuleCase& test, const std::vector<ModuleStep>& ranks) {
  const auto whole = plainStep(test);
  if (!whole) return {};
  if (const std::string text = difference(ranks[0].loss.whole, whole->loss.whole); !text.empty())
    return "runs where PyTorch refuses, and the loss is wrong: " + text;
  for (const auto& [name, gradient] : whole->gradients) {
    const auto own = ranks[0].gradients.find(name);
    const std::string text =
        own == ranks[0].gradients.end() ? "is missing" : difference(own->second.whole, gradient.whole);
    if (!text.empty()) return fmt::format("runs where PyTorch refuses, and the gradient of {} {}", name, text);
  }
  return {};
}

Result<void> stepsOn(const ModuleCase& test, const DeviceMesh& mesh, const RecordedWorld& world,
                     std::vector<ModuleStep>& ranks) {
  ranks.assign(std::size_t(mesh.ranks()), {});
  return firstCause(world.run(mesh.ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(mesh, link);
    KERF_TRY(ranks[std::size_t(link.rank())], rankStep(test, rank));
    return {};
  }));
}

std::string partDifference(const char* what, const StepTensor& own, const StepTensor& asked) {
  if (asked.local.storage() == nullptr) return {};
  const std::string text = difference(own.local, asked.local);
  return text.empty() ? text : fmt::format("{} {}", what, text);
}

/// Loss, output and gradients of one rank in two worlds.
std::string stepDifference(const ModuleStep& own, const ModuleStep& asked) {
  if (std::string text = partDifference("the output", own.output, asked.output); !text.empty()) return text;
  if (std::string text = partDifference("the loss", own.loss, asked.loss); !text.empty()) return text;
  for (const auto& [name, gradient] : asked.gradients) {
    const auto found = own.gradients.find(name);
    if (found == own.gradients.end()) return "the gradient of " + name + " is missing";
    const std::string what = "the gradient of " + name;
    if (std::string text = partDifference(what.c_str(), found->second, gradient); !text.empty()) return text;
  }
  return {};
}

/// What both worlds say where threads fail: a refusal, in the same words, of what PyTorch refuses too.
void noteFailures(const ModuleCase& test, bool isRefused, const Error& asked, const Result<void>& outcome,
                  RanksReport& report) {
  if (!isRefused) return report.note(test.id, RanksField::Values, "fails on threads: " + asked.text());
  std::string text;
  if (outcome)
    text = "runs where threads refuse";
  else if (outcome.error().code != asked.code || outcome.error().message != asked.message)
    text = fmt::format("fails in another way than threads: {}; threads: {}", outcome.error().text(), asked.text());
  report.note(test.id, RanksField::Refusals, text);
}

/// The module on fewer ranks than were recorded, in the report's world and on threads: what it does is the same.
Result<void> compareWorlds(const ModuleCase& test, const DeviceMesh& recordedMesh, bool isRefused,
                           RanksReport& report) {
  Sizes sizes(recordedMesh.dims(), 1);
  sizes.back() = report.world.ranks;
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes(sizes));
  std::vector<ModuleStep> onThreads, own;
  const auto asked = stepsOn(test, mesh, {}, onThreads);
  const auto outcome = stepsOn(test, mesh, report.world, own);
  if (!asked) {
    noteFailures(test, isRefused, asked.error(), outcome, report);
    return {};
  }
  std::string text = outcome ? "" : "fails: " + outcome.error().text();
  for (std::size_t rank = 0; rank < own.size() && text.empty(); ++rank) {
    text = stepDifference(own[rank], onThreads[rank]);
    if (!text.empty()) text = fmt::format("rank {}: {}", rank, text);
  }
  report.note(test.id, RanksField::Values, text);
  return {};
}

}  // namespace

Result<void> checkModuleCase(const Json& line, const SavedTensors& tensors, RanksReport& report) {
  const ModuleCase test{line, tensors, line.value("id", std::string())};
  ++report.cases;
  const bool isRefused = line.contains("error") && !line["error"].is_null();
  const Json meshSizes = line.value("mesh", Json());
  if (!meshSizes.is_array()) return {};  // the recording's own processes died
  KERF_TRY(const Sizes sizes, readSizes(meshSizes));
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes(sizes));
  if (report.world.ranks != 0) return compareWorlds(test, mesh, isRefused, report);
  std::vector<ModuleStep> ranks;
  const auto outcome = stepsOn(test, mesh, report.world, ranks);
  if (report.ran(test.id, isRefused, outcome, [&] { return refusalDifference(test, ranks); }))
    StepComparison(test, ranks, report).all();
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
