// Searches over sets: the tests that are run, the graphs that sets of calls are, and the values they begin with.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/ir/interpreter.h"
#include "minifier/core/copied_values.h"
#include "minifier/core/set_search.h"
#include "minifier/core/subset_builder.h"
#include "minifier/core/suspects.h"
#include "minifier/core/unit_weights.h"
#include "tests/support/minifier_graphs.h"
#include "tests/support/needle_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Set = SetSearch::Set;

struct Answer {
  Set set;
  int tests = 0;
};

Answer searched(SetSearch search, const std::function<bool(const Set&)>& fails) {
  Answer answer;
  std::set<Set> asked;
  while (const auto set = search.next()) {
    EXPECT_FALSE(set->empty());
    EXPECT_LT(set->size(), std::max<std::size_t>(search.current().size(), 2));
    EXPECT_TRUE(std::ranges::is_sorted(*set));
    if (asked.insert(*set).second) ++answer.tests;
    search.tell(fails(*set));
  }
  answer.set = search.current();
  return answer;
}

Set upTo(std::size_t count) {
  Set set(count);
  std::iota(set.begin(), set.end(), std::size_t{0});
  return set;
}

bool holds(const Set& set, const Set& needed) { return std::ranges::includes(set, needed); }

TEST(SetSearch, FindsNeedlesFarApart) {
  const Set needed{13, 700, 701, 2200};
  const Answer answer = searched(SetSearch(upTo(2300), {}), [&](const Set& set) { return holds(set, needed); });
  EXPECT_EQ(answer.set, needed);
  EXPECT_LE(answer.tests, 70);
}

TEST(SetSearch, OneNeedleCostsAHalvingEach) {
  for (const std::size_t needle : {0, 1, 1000, 2298, 2299}) {
    const Answer answer = searched(SetSearch(upTo(2300), {}), [&](const Set& set) { return holds(set, {needle}); });
    EXPECT_EQ(answer.set, Set{needle});
    EXPECT_LE(answer.tests, 26) << needle;
  }
}

TEST(SetSearch, NeedlesTogetherCostLittleMore) {
  for (const std::size_t first : {0, 511, 1149, 2296}) {
    const Set needed{first, first + 1, first + 2};
    const Answer answer = searched(SetSearch(upTo(2300), {}), [&](const Set& set) { return holds(set, needed); });
    EXPECT_EQ(answer.set, needed);
    EXPECT_LE(answer.tests, 32) << first;
  }
}

TEST(SetSearch, ASuspectThatFailsIsTheWholeSearch) {
  const Answer answer =
      searched(SetSearch(upTo(2300), {{4, 9}, {7, 800, 2000}}), [&](const Set& set) { return holds(set, {800}); });
  EXPECT_EQ(answer.set, Set{800});
  EXPECT_LE(answer.tests, 5);
}

/// Everything fails that is monotone, of random needed parts, and some that is not: the result is 1-minimal.
TEST(SetSearch, IsOneMinimalHoweverTheAnswersAre) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::size_t count = 2 + random() % 40;
    std::vector<Set> parts;  // alternatives: a set fails if it holds one of them whole, and not the spoiler
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      std::set<std::size_t> part;
      for (unsigned k = 0; k < 1 + random() % 4; ++k) part.insert(random() % count);
      parts.emplace_back(part.begin(), part.end());
    }
    const std::size_t spoiler = random() % count;
    const auto fails = [&](const Set& set) {
      if (set.size() == count) return true;
      const bool spoiled = std::ranges::binary_search(set, spoiler) && set.size() % 3 == 0;
      return !spoiled && std::ranges::any_of(parts, [&](const Set& part) { return holds(set, part); });
    };
    SetWeights weights;
    for (std::size_t i = 0; i < count; ++i) {
      weights.costs.push_back(random() % 5 == 0 ? 100 : 1);
      weights.falls.push_back(double(random() % 100));
    }
    const auto uneven = std::make_shared<const SetWeights>(std::move(weights));
    using Row = std::pair<std::size_t, std::shared_ptr<const SetWeights>>;
    for (const auto& [parallelTests, by] : {Row(0, nullptr), Row(7, nullptr), Row(0, uneven), Row(7, uneven)}) {
      const Answer answer = searched(SetSearch(upTo(count), {}, SetSearch::Proof::Last, parallelTests, by), fails);
      ASSERT_TRUE(fails(answer.set));
      for (std::size_t i = 0; answer.set.size() > 1 && i < answer.set.size(); ++i) {
        Set less = answer.set;
        less.erase(less.begin() + std::ptrdiff_t(i));
        EXPECT_FALSE(fails(less)) << "seed " << seed << ", element " << i;
      }
    }
  }
}

std::shared_ptr<const SetWeights> weighing(std::vector<double> costs, std::vector<double> falls) {
  return std::make_shared<const SetWeights>(SetWeights{std::move(costs), std::move(falls)});
}

TEST(SetSearch, HalvesWhatElementsCost) {
  std::vector<double> costs(64, 1.0);
  costs[5] = 64;  // as much as all others: alone with those before it
  const auto search = SetSearch(upTo(64), {}, SetSearch::Proof::Last, 0, weighing(costs, std::vector(64, 1.0)));
  EXPECT_EQ(search.next(), upTo(6));
  const Answer answer = searched(search, [&](const Set& set) { return holds(set, {5}); });
  EXPECT_EQ(answer.set, Set{5});
  EXPECT_LE(answer.tests, 5);
}

TEST(SetSearch, HalvesWhereTheMostFalls) {
  std::vector<double> falls(640, 1.0);
  falls[300] = 9, falls[333] = 12, falls[500] = 40;  // the last one is not near the middle
  const auto weights = weighing(std::vector(640, 1.0), falls);
  EXPECT_EQ(SetSearch(upTo(640), {}, SetSearch::Proof::Last, 0, weights).next(), upTo(334));
  EXPECT_EQ(SetSearch(upTo(120), {}, SetSearch::Proof::Last, 0, weights).next(), upTo(60)) << "small sets are halved";
}

TEST(SetSearch, NoHalfIsMoreThanNineSixteenths) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t count = 200 + random() % 2000, needle = random() % count;
    std::vector<double> falls(count);
    for (double& fall : falls) fall = double(random() % 1000);
    const Answer answer =
        searched(SetSearch(upTo(count), {}, SetSearch::Proof::Last, 0, weighing(std::vector(count, 1.0), falls)),
                 [&](const Set& set) { return holds(set, {needle}); });
    EXPECT_EQ(answer.set, Set{needle});
    EXPECT_LE(answer.tests, 28) << seed;
  }
}

/// a → c, d → e → f, which is returned; a too, where it leaks.
Candidate diamond(bool leaks) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId a = b.call(tanhTarget, {x}, "a");
  const NodeId c = b.call(expTarget, {a}, "c");
  const NodeId d = b.call(reluTarget, {a}, "d");
  const NodeId e = b.call(addTarget, {c, d}, "e");
  const NodeId f = b.call(tanhTarget, {e}, "f");
  return leaks ? b.finish({f, a}) : b.finish({f});
}

SetWeights weighed(const Candidate& candidate) {
  return weightsOf(candidate.module, callUnits(candidate.module.graph));
}

TEST(UnitWeights, OnlyWhatReachesResultsThroughACallFallsWithIt) {
  EXPECT_EQ(weighed(diamond(false)).costs, std::vector<double>(5, 1));
  EXPECT_EQ(weighed(diamond(false)).falls, (std::vector<double>{1, 1, 1, 4, 5}));
  EXPECT_EQ(weighed(diamond(true)).falls, (std::vector<double>{1, 1, 1, 3, 4}));
}

TEST(UnitWeights, ATupleCostsItsItemsAndACallTheGraphsThatItIsGiven) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId pair = b.call("torch.ops.aten.max.dim", {x, 0}, "pair");
  const NodeId first = b.call("operator.getitem", {pair, 0}, "first");
  const Candidate tuple = b.finish({b.call(reluTarget, {first}, "relu")});
  EXPECT_EQ(weighed(tuple).costs, (std::vector<double>{2, 1}));
  const Candidate nested = needleGraph({.seed = 1, .calls = 60, .nested = true});
  double sum = 0;
  for (const double cost : weighed(nested).costs) sum += cost;
  EXPECT_EQ(sum, double(countCalls(nested.module)));
}

/// A chain of `kinds` ops, `more` times the first of them, and the last op.
std::optional<UnitSet> suspectsOfChain(std::size_t kinds, std::size_t more) {
  constexpr const char* ops[] = {"sin",  "cos",     "tan",   "exp",  "abs",  "neg", "erf",  "relu",
                                 "tanh", "sigmoid", "floor", "ceil", "sqrt", "log", "sinh", "cosh"};
  CandidateBuilder b;
  NodeId at = b.input("x", {4});
  const auto add = [&](std::size_t op) {
    at = b.call(fmt::format("torch.ops.aten.{}.default", ops[op]).c_str(), {at});
  };
  for (std::size_t i = 0; i + 1 < kinds; ++i) add(i);
  for (std::size_t i = 0; i < more; ++i) add(0);
  add(kinds - 1);
  const Candidate chain = b.finish({at});
  return suspects(chain.module.graph, callUnits(chain.module.graph));
}

TEST(Suspects, AreTheFirstOfEachKindInALargeGraph) {
  EXPECT_EQ(suspectsOfChain(3, 150), (UnitSet{0, 1, 152}));
  EXPECT_EQ(suspectsOfChain(3, 60), std::nullopt) << "five halvings come to as little";
  UnitSet all = upTo(15);
  all.push_back(515);
  EXPECT_EQ(suspectsOfChain(16, 500), all);
}

TEST(SetSearch, SurveyorsAreAskedAboutPiecesBeforeElements) {
  const Set needed{20, 21, 25, 40};
  const auto fails = [&](const Set& set) { return holds(set, needed); };
  const SetSearch search(upTo(64), {}, SetSearch::Proof::Later, 14);
  EXPECT_TRUE(search.isSurvey());
  EXPECT_EQ(search.next()->size(), 59u) << "13 pieces for 14";
  const Answer answer = searched(search, fails);
  EXPECT_EQ(answer.set, needed);
  EXPECT_LE(answer.tests, 13 + 1 + 15 + 1) << "chunks, fold, elements of three chunks, fold";
  const Answer all =
      searched(SetSearch(upTo(64), {}, SetSearch::Proof::Last, 14), [](const Set& set) { return set.size() == 64; });
  EXPECT_EQ(all.set, upTo(64));
}

TEST(SetSearch, TheProofMayComeLater) {
  const Set needed{13, 700, 701, 2200};
  const auto fails = [&](const Set& set) { return holds(set, needed); };
  const Answer whole = searched(SetSearch(upTo(2300), {}), fails);
  const Answer first = searched(SetSearch(upTo(2300), {}, SetSearch::Proof::Later), fails);
  EXPECT_EQ(first.set, needed);
  EXPECT_LT(first.tests, whole.tests);
  const Answer proof = searched(SetSearch(needed, {}, SetSearch::Proof::Only), fails);
  EXPECT_EQ(proof.set, needed);
  EXPECT_EQ(proof.tests, 4);
  EXPECT_EQ(
      searched(SetSearch(upTo(9), {}, SetSearch::Proof::Only), [](const Set& set) { return holds(set, {4}); }).set,
      Set{4});
}

TEST(SetSearch, NeverAsksAboutNothing) {
  const Answer answer = searched(SetSearch(upTo(1), {}), [](const Set&) { return true; });
  EXPECT_EQ(answer.set, Set{0});
  EXPECT_EQ(answer.tests, 0);
  EXPECT_TRUE(searched(SetSearch(upTo(0), {}), [](const Set&) { return true; }).set.empty());
}

std::string names(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.order()) text += graph.node(id).name() + " ";
  return text;
}

/// The set as a candidate that was checked and run; its result.
std::optional<Value> ran(const Candidate& candidate) {
  EXPECT_TRUE(candidate.module.graph.lint().has_value());
  EXPECT_EQ(candidate.module.graph.placeholders().size(), candidate.inputs.size());
  const auto copies = copyInputs(candidate.inputs);
  auto result = Interpreter(candidate.module, referenceOps()).run(*copies);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return result ? std::optional(*result) : std::nullopt;
}

double firstOf(const Value& value) { return value.list().at(0).tensor().itemAsDouble(0); }

TEST(SubsetBuilder, CutsOnBothSides) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId f = b.call(tanhTarget, {x}, "f");
  const NodeId g = b.call(expTarget, {f}, "g");
  const NodeId h = b.call(reluTarget, {g}, "h");
  const Candidate base = b.finish({b.call(addTarget, {h, f}, "k")});
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  ASSERT_EQ(builder.units().size(), 4u);
  const auto middle = builder.build({1, 3});
  ASSERT_TRUE(middle);
  EXPECT_EQ(names(middle->module.graph), "f h g k output ");
  EXPECT_EQ(returnedNodes(middle->module.graph).size(), 2u);
  (void)ran(*middle);
  const auto first = builder.build({0});
  ASSERT_TRUE(first);
  EXPECT_EQ(names(first->module.graph), "x f output ");
}

TEST(SubsetBuilder, ATupleGoesWithItsItems) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId pair = b.call("torch.ops.aten.max.dim", {x, 0}, "pair");
  const NodeId first = b.call("operator.getitem", {pair, 0}, "first");
  const Candidate base = b.finish({b.call(reluTarget, {first}, "relu")});
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  ASSERT_EQ(builder.units().size(), 2u);
  EXPECT_EQ(names(builder.build({0})->module.graph), "x pair first output ");
  EXPECT_EQ(names(builder.build({1})->module.graph), "first relu output ");
}

TEST(SubsetBuilder, AListThatIsUsedWholeIsTakenApart) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {6});
  const NodeId parts = b.call("torch.ops.aten.split.Tensor", {x, 2}, "parts");
  const Candidate base = b.finish({b.call("torch.ops.aten.cat.default", {parts}, "cat")});
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  const auto producer = builder.build({0});
  ASSERT_TRUE(producer);
  EXPECT_EQ(returnedNodes(producer->module.graph).size(), 3u);
  (void)ran(*producer);
  const auto consumer = builder.build({1});
  ASSERT_TRUE(consumer);
  EXPECT_EQ(consumer->inputs.size(), 3u);
  EXPECT_EQ(ran(*consumer)->list()[0].tensor().numel(), 6);
}

TEST(SubsetBuilder, AWriterGetsTheValueBeforeItAndOthersTheOneAfter) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2});
  const NodeId y = b.call(expTarget, {x}, "y");
  const NodeId v = b.call("torch.ops.aten.view.default", {y, Argument::list({1, 2})}, "v");
  const NodeId w = b.call("torch.ops.aten.add_.Tensor", {v, 100}, "w");
  (void)w;
  const NodeId z = b.call("torch.ops.aten.neg.default", {y}, "z");
  const Candidate base = b.finish({z});
  const double before = std::exp(base.inputs[0].tensor().itemAsDouble(0));
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  ASSERT_EQ(builder.units().size(), 4u);
  const auto reader = builder.build({3});
  ASSERT_TRUE(reader);
  EXPECT_NEAR(firstOf(*ran(*reader)), -before - 100, 1e-4);
  const auto writer = builder.build({2});
  ASSERT_TRUE(writer);
  EXPECT_NEAR(writer->inputs.at(0).tensor().itemAsDouble(0), before, 1e-5);
  EXPECT_TRUE(writesMemory(writer->module));
  const auto all = builder.build({1, 2, 3});
  ASSERT_TRUE(all);
  EXPECT_NEAR(all->inputs.at(0).tensor().itemAsDouble(0), before, 1e-5);
}

TEST(SubsetBuilder, AnEpilogueIsACandidateOfItsOwn) {
  CandidateBuilder b;
  const NodeId state = b.input("state", {3});
  const NodeId y = b.call(expTarget, {state}, "y");
  b.call("torch.ops.aten.copy_.default", {state, y}, "copy_");
  const Candidate base = b.finish({b.call(reluTarget, {y}, "out")});
  const double before = base.inputs[0].tensor().itemAsDouble(0);
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  const auto epilogue = builder.build({1});
  ASSERT_TRUE(epilogue);
  EXPECT_EQ(names(epilogue->module.graph), "state y copy_ output ");
  EXPECT_TRUE(returnedNodes(epilogue->module.graph).empty());
  EXPECT_EQ(epilogue->inputs[0].tensor().itemAsDouble(0), before);
  EXPECT_EQ(base.inputs[0].tensor().itemAsDouble(0), before) << "the recording run works on copies";
}

TEST(SubsetBuilder, EverySetOfARandomGraphIsValid) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const Candidate base = mlp(3 + int(random() % 4), 1);
    RecordedValues values(base, {}, 256);  // bytes: nearly everything is computed again
    SubsetBuilder builder(base, values);
    UnitSet set;
    for (std::size_t i = 0; i < builder.units().size(); ++i)
      if (random() % 2) set.push_back(i);
    if (set.empty()) continue;
    const auto built = builder.build(set);
    ASSERT_TRUE(built) << seed;
    EXPECT_EQ(measure(*built).calls, set.size());
    (void)ran(*built);
  }
}

}  // namespace
}  // namespace kerf
