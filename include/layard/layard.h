/// Everything of Layard's C++ interface in one include.
#pragma once

#include "layard/answer.h"
#include "layard/benchmark.h"
#include "layard/cascade.h"
#include "layard/doctor.h"
#include "layard/error.h"
#include "layard/evaluation.h"
#include "layard/model.h"
#include "layard/question.h"
#include "layard/router.h"
#include "layard/service.h"
#include "layard/tokenizer.h"
#include "layard/version.h"
#include "layard/words.h"
