#include "gateway/class_source.h"

#include <utility>

#include "base/utf8.h"

namespace layard::gateway {
namespace {

class ServiceSource final : public ClassSource {
 public:
  explicit ServiceSource(DecisionService& service) : service_(service) {}

  Ticket ask(const RouteQuestion& question, ClassQuery query, Done done) override {
    if (!base::is_valid_utf8(query.text)) {
      done(Error{ErrorCode::kInvalidRequest, "the request's text is not UTF-8"});
      return 0;
    }
    ServiceRequest asked;
    asked.request = {State{std::move(query.text)}, question.questions(false), {}, {}};
    if (!query.checkpoint.empty()) asked.request.model = std::move(query.checkpoint);
    asked.options = question.predict_options();
    asked.client = std::move(query.caller);
    asked.deadline_ms = query.deadline_ms;
    return service_.submit(std::move(asked),
                           [&question, done = std::move(done)](Result<ServiceAnswer> answer) {
                             if (answer.ok()) {
                               done(question.read(answer->prediction));
                             } else {
                               done(answer.error());
                             }
                           });
  }

  void cancel(Ticket ticket) override { service_.cancel(ticket); }

 private:
  DecisionService& service_;
};

}  // namespace

std::unique_ptr<ClassSource> class_source_of(DecisionService& service) {
  return std::make_unique<ServiceSource>(service);
}

}  // namespace layard::gateway
