// FlowNetwork: a directed network with capacities, and its minimum cut.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace kerf::inline partition {

class FlowNetwork {
 public:
  using Vertex = int;
  /// Vertices 0 (source) and 1 (sink) are there from the start.
  static constexpr Vertex source = 0, sink = 1;
  static constexpr std::int64_t unlimited = -1;

  explicit FlowNetwork(int vertices) : m_vertices(vertices) {}
  void add(Vertex from, Vertex to, std::int64_t capacity) { m_edges.push_back({from, to, capacity}); }

  struct Cut {
    bool bounded = true;           ///< false: a path of unlimited edges joins source and sink
    std::vector<bool> sinkSide;    ///< by vertex
    std::vector<Vertex> openPath;  ///< of an unbounded one: source … sink
  };
  /// Of several minimum cuts the one nearest to the sink: the sink side is what can still reach the sink when the flow
  /// is greatest. That set is the same for every maximum flow (networkx.minimum_cut cuts there too), so neither the
  /// algorithm nor the order of the edges decides.
  Cut minimumCut() const;

 private:
  struct Edge {
    Vertex from, to;
    std::int64_t capacity;
  };
  std::vector<Vertex> openPath() const;

  int m_vertices;
  std::vector<Edge> m_edges;
};

}  // namespace kerf::inline partition
