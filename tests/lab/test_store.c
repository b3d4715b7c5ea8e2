#include "lab_kit.h"
