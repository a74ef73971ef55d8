#include "gateway/policy_places.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace layard::gateway {
namespace {

// Walks a text that is known to be JSON.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text), counter_(text) {}

  JsonPlaces walk() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    out_.root = value("", PolicyPlace{1, 1});
    return std::move(out_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // The string that begins here, as it is written, with its quotes.
  std::string_view string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  PlaceTree value(const std::string& pointer, PolicyPlace name) {
    skip_blanks();
    PlaceTree out{name, counter_.at(at_)};
    if (peek() == '{') {
      object(pointer, out);
    } else if (peek() == '[') {
      array(pointer, out);
    } else if (peek() == '"') {
      string();
    } else {
      while (at_ < text_.size() &&
             std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
    }
    return out;
  }

  // A member's name as it is meant, escapes read.
  static std::string read_name(std::string_view written) {
    if (written.find('\\') == std::string_view::npos) {
      return std::string(written.substr(1, written.size() - 2));
    }
    const auto read = base::parse_json(written, {});
    return read.ok() ? read->text() : std::string(written);
  }

  void object(const std::string& pointer, PlaceTree& out) {
    std::unordered_map<std::string, std::size_t> seen;
    ++at_;
    skip_blanks();
    while (at_ < text_.size() && peek() != '}') {
      skip_blanks();
      const PolicyPlace place = counter_.at(at_);
      const std::string name = read_name(string());
      skip_blanks();
      ++at_;  // the colon
      const PolicyNode step = PolicyNode{nullptr, nullptr, pointer, {}}.member(name);
      PlaceTree child = value(step.pointer, place);
      const auto [known, is_new] = seen.emplace(name, out.children.size());
      if (is_new) {
        out.children.push_back(std::move(child));
      } else {
        out.children[known->second] = std::move(child);
        if (out_.repeats.size() < PolicyFindings::kMax) {
          out_.repeats.push_back({pointer, name, place});
        }
      }
      skip_blanks();
      if (peek() == ',') ++at_;
      skip_blanks();
    }
    ++at_;
  }

  void array(const std::string& pointer, PlaceTree& out) {
    ++at_;
    skip_blanks();
    while (at_ < text_.size() && peek() != ']') {
      PlaceTree child = value(pointer + "/" + std::to_string(out.children.size()), {});
      out.children.push_back(std::move(child));
      skip_blanks();
      if (peek() == ',') ++at_;
      skip_blanks();
    }
    ++at_;
  }

  std::string_view text_;
  PlaceCounter counter_;
  std::size_t at_ = 0;
  JsonPlaces out_;
};

}  // namespace

JsonPlaces find_json_places(std::string_view text) { return Walker(text).walk(); }

}  // namespace layard::gateway
