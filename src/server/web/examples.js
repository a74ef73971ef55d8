// Worked examples: something of each question type, of each form of state, and of each thing that
// can go wrong with a text.

const MEETING_NOTES = [
  'Anna opened with the numbers of the week: 412 orders, eleven of them late.',
  'The late ones came from the northern depot, where the sorting belt stood still on Tuesday.',
  'Jonas has asked the maker for a spare motor and expects it within ten days.',
  'Until then two people sort by hand in the evening, which costs about 900 euros a week.',
  'Mira showed the new label printer; it is faster, but it jams when the paper is damp.',
  'The office will keep the old printer as a spare until the end of the quarter.',
  'Nobody objected to moving the stocktaking from March to February.',
].join(' ');

/// {name, hint, state: text or plain JSON, questions: plain JSON}
export const EXAMPLES = [
  {
    name: 'Support message',
    hint: 'All three question types about one message.',
    state:
      'Hi, my card was charged 49 euros twice on Monday for the same order (A-1182). I wrote ' +
      'last week and nobody answered. Please send the second charge back today, otherwise I ' +
      'will cancel my plan.',
    questions: {
      team: {
        type: 'choice',
        instructions: 'Which team should answer this message?',
        criteria: {
          billing: 'charges, invoices and refunds',
          technical: 'errors, outages and broken features',
          account: 'login, profile and permissions',
          sales: 'prices and new contracts',
        },
      },
      urgency: {
        type: 'score',
        instructions: 'How urgent is the message?',
        criteria: ['can wait for weeks', 'within a few days', 'today', 'right now'],
      },
      refund: {type: 'noul', instructions: 'Does the customer ask for money back?'},
    },
  },
  {
    name: 'Kind of request',
    hint: 'What a router asks before it picks a model for a prompt.',
    state: 'Write a Python function that merges two sorted lists without calling sort().',
    questions: {
      kind: {
        type: 'choice',
        instructions: 'What kind of answer does the request need?',
        criteria: {
          code: 'a program, a script, a query or a command',
          prose: 'an explanation or a longer text',
          short: 'a word, a number or a short fact',
        },
      },
    },
  },
  {
    name: 'Tool choice',
    hint: 'Which of several tools an assistant should call.',
    state: 'Set the living room lights to warm white at seven and remind me to call Noor.',
    questions: {
      tool: {
        type: 'choice',
        instructions: 'Which tool should handle the request?',
        criteria: {
          lights: 'switch or dim lights',
          reminder: 'remember something for later',
          music: 'play or stop music',
          weather: 'tell the weather',
          search: 'look something up',
        },
      },
      several: {type: 'noul', instructions: 'Does the person ask for more than one thing?'},
    },
  },
  {
    name: 'Suspicious message',
    hint: 'A yes/no question whose two sides are described.',
    state:
      'Your parcel is held at customs. Pay 1.99 within 24 hours at track-parcel-help.example or ' +
      'it goes back to the sender.',
    questions: {
      scam: {
        type: 'noul',
        instructions: 'Is this message a scam?',
        criteria: {true: 'it wants money or data under a pretext', false: 'an ordinary message'},
      },
      pressure: {
        type: 'score',
        instructions: 'How much does the message push the reader to hurry?',
        criteria: ['not at all', 'a little', 'strongly'],
      },
    },
  },
  {
    name: 'Conversation',
    hint: 'A JSON list: of a long one the newest turns are kept.',
    state: [
      {role: 'user', content: 'Good morning, I need to move my appointment with Dr. Lind.'},
      {role: 'assistant', content: 'Of course. Which day would suit you?'},
      {role: 'user', content: 'Thursday after four, or any time on Friday.'},
    ],
    questions: {
      intent: {
        type: 'choice',
        instructions: 'What does the person want to do?',
        criteria: {
          book: 'make a new appointment',
          reschedule: 'change the time of an appointment',
          cancel: 'cancel an appointment',
          ask: 'ask for information',
        },
      },
      when: {type: 'noul', instructions: 'Does the person say when they have time?'},
    },
  },
  {
    name: 'Mixed review',
    hint: 'A close call: see whether the answers hold in another order of options.',
    state:
      'The new version is fine, I guess. Search got faster, but I still lose my drafts whenever ' +
      'the train goes through a tunnel.',
    questions: {
      mood: {
        type: 'choice',
        instructions: 'What is the mood of the review?',
        criteria: {
          happy: 'praise prevails',
          mixed: 'praise and complaint',
          unhappy: 'complaint prevails',
        },
      },
      stars: {
        type: 'score',
        instructions: 'How many stars does the review deserve?',
        criteria: ['one star', 'two stars', 'three stars', 'four stars', 'five stars'],
      },
    },
  },
  {
    name: 'Long text',
    hint: 'More than a small model reads at once: the end is cut, or it is read in windows.',
    state: [
      ...Array(6).fill(MEETING_NOTES),
      'Last point: the fire drill is on Friday at ten.',
    ].join('\n\n'),
    questions: {
      drill: {type: 'noul', instructions: 'Is a fire drill announced?'},
      topic: {
        type: 'choice',
        instructions: 'What are these notes mostly about?',
        criteria: {
          logistics: 'orders, depots and delivery',
          hiring: 'people and positions',
          finance: 'budgets and taxes',
          safety: 'drills and accidents',
        },
      },
    },
  },
];
