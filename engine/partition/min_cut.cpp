#include "engine/partition/min_cut.h"

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 guesses so of the optional in Boost's edge iterator
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace kerf::inline partition {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using EdgeProperty = boost::property<boost::edge_capacity_t, std::int64_t,
                                     boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                                     boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
using Network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeProperty>;

/// What can reach the sink over edges with capacity left. The reverse of an edge leaves the edge's head.
std::vector<bool> reachingSink(const Network& network, std::size_t sink) {
  const auto residual = boost::get(boost::edge_residual_capacity, network);
  const auto reverse = boost::get(boost::edge_reverse, network);
  std::vector<bool> reaches(boost::num_vertices(network));
  std::vector<std::size_t> waiting = {sink};
  reaches[sink] = true;
  while (!waiting.empty()) {
    const std::size_t at = waiting.back();
    waiting.pop_back();
    for (auto [edge, end] = boost::out_edges(at, network); edge != end; ++edge) {
      const std::size_t from = boost::target(*edge, network);
      if (reaches[from] || residual[reverse[*edge]] == 0) continue;
      reaches[from] = true;
      waiting.push_back(from);
    }
  }
  return reaches;
}

}  // namespace

std::vector<FlowNetwork::Vertex> FlowNetwork::openPath() const {
  std::vector<std::vector<Vertex>> next(static_cast<std::size_t>(m_vertices));
  for (const Edge& edge : m_edges)
    if (edge.capacity == unlimited) next[std::size_t(edge.from)].push_back(edge.to);
  std::vector<Vertex> before(std::size_t(m_vertices), -1), waiting = { source };
  before[source] = source;
  for (std::size_t i = 0; i < waiting.size() && before[sink] < 0; ++i)
    for (const Vertex to : next[std::size_t(waiting[i])])
      if (before[std::size_t(to)] < 0) {
        before[std::size_t(to)] = waiting[i];
        waiting.push_back(to);
      }
  if (before[sink] < 0) return {};
  std::vector<Vertex> path = {sink};
  while (path.back() != source) path.push_back(before[std::size_t(path.back())]);
  std::ranges::reverse(path);
  return path;
}

FlowNetwork::Cut FlowNetwork::minimumCut() const {
  Cut cut;
  cut.openPath = openPath();
  if (!cut.openPath.empty()) {
    cut.bounded = false;
    return cut;
  }
  std::int64_t finite = 0;
  for (const Edge& edge : m_edges)
    if (edge.capacity != unlimited) finite += edge.capacity;
  Network network{std::size_t(m_vertices)};
  auto capacity = boost::get(boost::edge_capacity, network);
  auto reverse = boost::get(boost::edge_reverse, network);
  for (const Edge& edge : m_edges) {
    const auto there = boost::add_edge(std::size_t(edge.from), std::size_t(edge.to), network).first;
    const auto back = boost::add_edge(std::size_t(edge.to), std::size_t(edge.from), network).first;
    capacity[there] = edge.capacity == unlimited ? finite + 1 : edge.capacity;
    capacity[back] = 0;
    reverse[there] = back;
    reverse[back] = there;
  }
  std::vector<boost::default_color_type> colours(static_cast<std::size_t>(m_vertices));
  std::vector<long> distances(static_cast<std::size_t>(m_vertices));
  std::vector<Traits::edge_descriptor> predecessors(static_cast<std::size_t>(m_vertices));
  const auto index = boost::get(boost::vertex_index, network);
  boost::boykov_kolmogorov_max_flow(network, capacity, boost::get(boost::edge_residual_capacity, network), reverse,
                                    boost::make_iterator_property_map(predecessors.begin(), index),
                                    boost::make_iterator_property_map(colours.begin(), index),
                                    boost::make_iterator_property_map(distances.begin(), index), index,
                                    std::size_t(source), std::size_t(sink));
  cut.sinkSide = reachingSink(network, std::size_t(sink));
  return cut;
}

}  // namespace kerf::inline partition
