#include "engine/distributed/replay/whole_values.h"

#include <algorithm>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/sharding/redistribute.h"
#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline replay {
namespace {

constexpr std::size_t mostGuesses = 4096;

/// Placements on every dimension of the mesh, the last one changing first, until `visit` says that it is enough.
void eachPlacements(const std::vector<Placement>& options, const DeviceMesh& mesh,
                    const std::function<bool(const Placements&)>& visit) {
  std::vector<std::size_t> at(mesh.dims(), 0);
  for (std::size_t k = 0; k < mostGuesses; ++k) {
    Placements placements;
    for (const std::size_t option : at) placements.push_back(options[option]);
    if (visit(placements)) return;
    std::size_t dim = mesh.dims();
    while (dim > 0 && ++at[dim - 1] == options.size()) at[--dim] = 0;
    if (dim == 0) return;
  }
}

std::vector<Placement> wholeOrSharded(std::int64_t dims) {
  std::vector<Placement> options{Placement::replicate()};
  for (std::int64_t d = 0; d < dims; ++d) options.push_back(Placement::shard(d));
  return options;
}

bool areSizesOf(const Sizes& whole, const std::vector<Sizes>& parts, const Placements& placements,
                const DeviceMesh& mesh) {
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    if (parts[std::size_t(rank)] != localSizes({placements, whole}, mesh, mesh.coordinate(rank))) return false;
  return true;
}

std::string shortText(const Placements& placements) {
  return placements.size() == 1 ? placements[0].text() : placementsText(placements);
}

/// What every rank has under other placements.
Result<std::vector<Tensor>> moved(const std::vector<Tensor>& parts, const Spec& from, const Placements& to,
                                  const DeviceMesh& mesh) {
  std::vector<Tensor> result(parts.size());
  const auto ran = runRanks(mesh.ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(mesh, link);
    const auto own = std::size_t(link.rank());
    KERF_TRY(const Tensor part, redistribute(rank, parts[own], from, to));
    KERF_TRY(result[own], part.clone());
    return {};
  });
  KERF_CHECK(firstCause(ran));
  return result;
}

bool areDims(const Placements& placements, const Tensor& whole) {
  return std::ranges::all_of(placements, [&](const Placement& placement) {
    return !placement.isShard() || (placement.dim >= 0 && placement.dim < whole.dim());
  });
}

}  // namespace

std::optional<Placements> placementsOfSizes(const Sizes& whole, const std::vector<Sizes>& parts,
                                            const DeviceMesh& mesh) {
  if (parts.size() != std::size_t(mesh.ranks())) return std::nullopt;
  std::optional<Placements> found;
  eachPlacements(wholeOrSharded(std::int64_t(whole.size())), mesh, [&](const Placements& placements) {
    if (areSizesOf(whole, parts, placements, mesh)) found = placements;
    return found.has_value();
  });
  return found;
}

Result<std::vector<Tensor>> partsUnder(const Tensor& whole, const Placements& placements, const DeviceMesh& mesh) {
  if (placements.size() != mesh.dims() || !areDims(placements, whole))
    return fail(ErrorCode::ShapeMismatch, "a tensor of {} dimensions cannot be placed as {} on the mesh {}",
                whole.dim(), placementsText(placements), mesh.text());
  const std::vector<Tensor> everywhere(std::size_t(mesh.ranks()), whole);
  Placements unsummed = placements;
  for (Placement& placement : unsummed)
    if (placement.isPartialOf("sum")) placement = Placement::replicate();
  KERF_TRY(std::vector<Tensor> parts,
           moved(everywhere, {Placements(mesh.dims()), whole.sizes(), whole.dtype()}, unsummed, mesh));
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const Sizes coordinate = mesh.coordinate(rank);
    bool isFirst = true;  // of every sum: shares would be rounded
    for (std::size_t dim = 0; dim < mesh.dims(); ++dim)
      isFirst = isFirst && (!placements[dim].isPartialOf("sum") || coordinate[dim] == 0);
    Tensor& part = parts[std::size_t(rank)];
    if (!isFirst) {
      KERF_TRY(part, Tensor::zeros(part.dtype(), part.sizes()));
    }
  }
  return parts;
}

Fit fitUnder(const std::vector<Tensor>& parts, const Tensor& whole, const Placements& placements,
             const DeviceMesh& mesh, const SameTensor& isSame) {
  Fit fit;
  if (parts.size() != std::size_t(mesh.ranks()) || placements.size() != mesh.dims() || !areDims(placements, whole))
    return fit;
  fit.placements = placements;
  fit.placement = shortText(placements);
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    if (parts[std::size_t(rank)].sizes() != localSizes({placements, whole.sizes()}, mesh, mesh.coordinate(rank)))
      fit.wrong.push_back(rank);
  fit.hasOtherSizes = !fit.wrong.empty();
  if (fit.hasOtherSizes) return fit;
  const Placements settled = withoutPartials(placements);
  const Spec spec{placements, whole.sizes(), parts[0].dtype()};
  const auto own = settled == placements ? Result<std::vector<Tensor>>(parts) : moved(parts, spec, settled, mesh);
  const auto asked = partsUnder(whole, settled, mesh);
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    if (!own || !asked || !isSame((*own)[std::size_t(rank)], (*asked)[std::size_t(rank)])) fit.wrong.push_back(rank);
  return fit;
}

Fit fitOf(const std::vector<Tensor>& parts, const Tensor& whole, const DeviceMesh& mesh, const SameTensor& isSame,
          const std::set<std::int64_t>& splitFactors) {
  if (parts.size() != std::size_t(mesh.ranks())) return {};
  std::vector<Sizes> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.sizes());
  Fit best;
  const auto tries = [&](const Placements& placements) {
    if (!areSizesOf(whole.sizes(), sizes, placements, mesh)) return false;
    Fit fit = fitUnder(parts, whole, placements, mesh, isSame);
    const bool isPartial = std::ranges::any_of(placements, &Placement::isPartial);  // these fit, or say nothing
    if (fit.isRight() || (!isPartial && (best.placements.empty() || fit.wrong.size() < best.wrong.size())))
      best = std::move(fit);
    return best.isRight();
  };
  std::vector<Placement> options = wholeOrSharded(whole.dim());
  eachPlacements(options, mesh, tries);
  if (!best.isRight() && !splitFactors.empty()) {
    for (const std::int64_t factor : splitFactors)
      for (std::int64_t dim = 0; dim < whole.dim(); ++dim) options.push_back(Placement::strided(dim, factor));
    eachPlacements(options, mesh, tries);
  }
  if (best.isRight() || !isFloating(whole.dtype())) return best;
  options.push_back(Placement::partial("sum"));
  options.push_back(Placement::partial("avg"));
  eachPlacements(options, mesh, tries);
  return best;
}

}  // namespace kerf::inline distributed::inline replay
