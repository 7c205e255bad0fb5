package datasets

import (

)
