#include "app/workbench/worker_server.h"

#include "app/workbench/protocol/worker_loop.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

namespace {

template <class Request>
Result<std::string> answer(Workbench& bench, const std::string& body, const Job& job) {
  KERF_TRY(const auto request, decode<Request>(body, fmt::format("the request \"{}\"", Request::name)));
  KERF_TRY(const auto result, bench.perform(request, job));
  return encode(result);
}

struct RequestRow {
  std::string_view name;
  Result<std::string> (*answer)(Workbench&, const std::string&, const Job&);
};
#define KERF_REQUEST_ROW(Type) RequestRow{Type::name, answer<Type>},
constexpr RequestRow requestRows[] = {KERF_REQUESTS(KERF_REQUEST_ROW)};
#undef KERF_REQUEST_ROW

}  // namespace

int serveWorker(Workbench& bench, int file, const std::string& version) {
  return answerCalls(file, version, [&](const WorkerCall& call, const Job& job) -> Result<std::string> {
    for (const auto& row : requestRows)
      if (row.name == call.request) return row.answer(bench, call.body, job);
    return fail(ErrorCode::BadUsage, "there is no request \"{}\"", call.request);
  });
}

}  // namespace kerf::workbench
