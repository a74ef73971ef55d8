#include "runtime/workload.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/checks.h"

namespace layard::runtime {
namespace {

constexpr std::array<std::string_view, 7> kSubjects = {
    "invoice", "subscription", "account", "order", "payment", "license", "renewal"};
constexpr std::array<std::string_view, 6> kVerbs = {"was charged",   "was billed",  "got an error",
                                                    "cannot log in", "was refused", "saw a delay"};
constexpr std::array<std::string_view, 6> kDetails = {
    "twice this month",    "after the latest update",    "on the annual plan",
    "for the second time", "despite the earlier ticket", "without any notice"};
constexpr std::array<std::string_view, 5> kAsks = {
    "Please refund the duplicate amount.", "Can someone look into this today?",
    "I would like an explanation.", "Otherwise we will cancel the plan.",
    "Please confirm once it is fixed."};

constexpr std::array<std::string_view, 7> kQuestions = {
    R"({"type":"choice","instructions":"Which team should handle this ticket?","criteria":{)"
    R"("billing":"charges, invoices, refunds","technical":"errors, outages, broken features",)"
    R"("account":"login, profile, permissions","other":"anything else"}})",
    R"({"type":"score","instructions":"How urgent is this ticket?","criteria":["can wait",)"
    R"("should be handled today","blocking, handle now"]})",
    R"({"type":"noul","instructions":"Is the customer threatening to cancel the service?"})",
    R"({"type":"choice","instructions":"What is the overall sentiment of the message?",)"
    R"("criteria":["positive","neutral","negative"]})",
    R"({"type":"noul","instructions":"Does the message mention a specific invoice number?"})",
    R"({"type":"score","instructions":"How clearly does the customer describe the problem?",)"
    R"("criteria":["unclear","partly clear","clear","very clear with evidence"]})",
    R"({"type":"noul","instructions":"Should this ticket be escalated to a human supervisor?"})"};

template <std::size_t kCount>
std::string_view choose(base::PythonRandom& random,
                        const std::array<std::string_view, kCount>& from) {
  return from[random.below(static_cast<std::uint32_t>(kCount))];
}

}  // namespace

std::string TicketWords::sentence() {
  LAYARD_CHECK(words_.empty());
  std::ostringstream text;
  text << "The " << choose(random_, kSubjects);
  text << " " << random_.between(1000, 9999);
  text << " " << choose(random_, kVerbs);
  text << " " << choose(random_, kDetails) << ".";
  text << " " << choose(random_, kAsks);
  return text.str();
}

std::string TicketWords::next() {
  if (words_.empty()) {
    std::istringstream text(sentence());
    for (std::string word; text >> word;) words_.push_back(word);
    std::ranges::reverse(words_);
  }
  std::string word = std::move(words_.back());
  words_.pop_back();
  return word;
}

QuestionSet workload_questions(int count, std::uint64_t seed) {
  std::string json = "{";
  for (int i = 0; i < count; ++i) {
    const std::size_t at = (seed + static_cast<std::uint64_t>(i)) % kQuestions.size();
    json += (i > 0 ? ",\"q" : "\"q") + std::to_string(i) + "\":" + std::string(kQuestions[at]);
  }
  return parse_questions(json + "}", {}).value();
}

}  // namespace layard::runtime
