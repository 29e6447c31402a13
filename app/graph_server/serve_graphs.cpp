#include "app/graph_server/serve_graphs.h"

#include <map>
#include <mutex>

#include "app/graph_server/mailbox.h"
#include "app/graph_server/message_socket.h"
#include "app/graph_server/served_graph.h"
#include "engine/ops/core/op_registry.h"
#include "engine/process/owned_file.h"
#include "engine/support/read_json.h"

namespace kerf::graph_server {

namespace {

using Json = nlohmann::json;

/// The ops that give the same answer whenever and wherever they are called.
Json opNames() {
  Json names = Json::array();
  for (const OpInfo& op : allOps())
    if (op.kernel != nullptr && !has(op.traits, OpTrait::Random) && !has(op.traits, OpTrait::Impure) &&
        !has(op.traits, OpTrait::Inplace) && !has(op.traits, OpTrait::DataDependent))
      names.push_back(op.schema.qualifiedName());
  return names;
}

class Server {
 public:
  /// `file`: what came with the message.
  Result<Json> answer(const Json& message, int file) {
    if (message.contains("mailbox")) return opened(file);
    const std::scoped_lock lock(m_mutex);
    if (message.contains("call")) return called(message.at("call").get<int>());
    if (message.contains("compile")) return compiled(message, file);
    if (message.contains("free")) return freed(message.at("free").get<int>());
    if (message.contains("ops")) return Json{{"ops", opNames()}};
    return fail(ErrorCode::BadUsage, "a message that asks for nothing");
  }

 private:
  /// From now on calls may come by the mailbox, too.
  Result<Json> opened(int file) {
    KERF_TRY(auto region, SharedRegion::map(file, Mailbox::bytes));
    m_mailbox.emplace(std::move(region), [this](std::uint32_t number) { return calledAgain(int(number)); });
    return Json::object();
  }

  Mailbox::Answer calledAgain(int number) {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_graphs.find(number);
    const bool isDone = found != m_graphs.end() && found->second->callAgain();
    return isDone ? Mailbox::Answer::Done : Mailbox::Answer::Ask;
  }

  Result<Json> compiled(const Json& message, int file) {
    KERF_TRY(auto graph, ServedGraph::make(message, file));
    m_graphs.emplace(++m_last, std::move(graph));
    return Json{{"graph", m_last}};
  }

  Result<Json> called(int number) {
    const auto found = m_graphs.find(number);
    if (found == m_graphs.end()) return fail(ErrorCode::NotFound, "there is no graph {}", number);
    KERF_TRY(Json outputs, found->second->call());
    return Json{{"outputs", std::move(outputs)}};
  }

  Result<Json> freed(int number) {
    m_graphs.erase(number);
    return Json::object();
  }

  std::mutex m_mutex;  ///< of the graphs: the mailbox answers on a thread of its own
  std::map<int, std::unique_ptr<ServedGraph>> m_graphs;
  int m_last = 0;
  std::optional<Mailbox> m_mailbox;  ///< ends before the graphs do
};

/// Also of a message that is no JSON, or lacks something: only this message fails.
Json answered(Server& server, const std::string& text, int file) {
  const OwnedFile own(file);
  Error error(ErrorCode::Internal, "");
  try {
    const Json message = readJson<Json>(text);
    if (message.is_discarded()) return Json{{"error", "a message " + whyNoJson(text)}, {"node", ""}};
    Result<Json> answer = server.answer(message, own.number());
    if (answer) return *std::move(answer);
    error = std::move(answer).error();
  } catch (const std::exception& problem) {
    error = Error(ErrorCode::BadInput, problem.what());
  }
  return Json{{"error", error.text()}, {"node", error.node}};
}

}  // namespace

int serveGraphs(int socket) {
  MessageSocket client(socket);
  Server server;
  while (true) {
    const auto text = client.receive();
    if (!text) return 3;
    if (!*text) return 0;
    const Json answer = answered(server, **text, client.takeFile());
    if (!client.send(answer.dump(-1, ' ', false, Json::error_handler_t::replace))) return 3;
  }
}

}  // namespace kerf::graph_server
